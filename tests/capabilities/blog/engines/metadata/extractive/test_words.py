"""Words are found in bounded time."""

import time

from capabilities.blog.engines.metadata.extractive.words import words_of
from workers.engines.languages.languages import language_of


def test_a_turkish_word_of_endless_apostrophes_takes_a_moment() -> None:
    turkish = language_of("İstanbul'da gezi", "", "tr")
    started = time.process_time()

    assert len(list(words_of("a" + "'a" * 100_000, turkish))) == 1
    # A quarter of a second on a quiet machine; two minutes where each apostrophe is looked back from.
    assert time.process_time() - started < 10
