"""Reading: what is said for a written text, and that ordinary prose is left alone."""

import re
import tomllib
from pathlib import Path

import pytest
from examples.posts import POSTS
from hypothesis import given, settings
from hypothesis import strategies as st
from processor_time import least_processor_time

from capabilities.speech.normalization.language import SpokenLanguage
from capabilities.speech.normalization.reading import read, spoken_form
from capabilities.speech.normalization.sentences import split_text

#: Language, what is written, what is said.
ROWS = [
    (language, written, spoken)
    for language, forms in tomllib.loads(Path(__file__).with_name("spoken_forms.toml").read_text("utf-8")).items()
    for written, spoken in forms.items()
]

#: What might be mistaken for something else.
LEFT_ALONE = {
    "en": [
        "Take vitamin c. 12 pills a day.",
        "He said no. 10 minutes later he left.",
        "It is 10 - 12 - 15, 21/3.",
        "I mix a CD with Malcolm X, MD, in Washington, DC; he said no. Then I left.",
        "The 1970s, the '80s, an iPhone 5s, 5G, 4K, 3D, size XL, COVID-19, F-16 and a 747-400.",
        "On 05/06/2026 he was 5'2 tall at 5 in the morning; ISBN 978-3-16-148410-0.",
        "1,234.5 and 10,000 and 1990 are read well; so are 50/50 and 3-1. He is 21. She isn't.",
        "Wait...what? file.py, README.md, snake_case_name, a*b*c, C++ and usr/bin/env.",
        "At that level I tried 786 TRY ROOMS in falcon.App at 00:30. Part I like best.",
        "Jeremiah 29:11 and Psalm 91:11. Version 1.2. is out.",
        "Henry I think you should call. Room 101. J.R.R. Tolkien. The XX.",
    ],
    "es": ["Mi CD es de 1990. Vivo en la calle 5, con 1.234,5 puntos. Los 3 vimos a D'Artagnan. 912 345 678."],
    "fr": [
        "PowerPC 821/850/860, p.es, ISBN 2-7654-1005-4.",
        "J'ai 1 234,5 points depuis 1990. L'an 2000 : 3 amis, un CD, un t-shirt. Va-t-il ? C'est-à-dire oui.",
    ],
    "de": [
        "Er ist 21. Sie auch. Ich habe 1.234,5 Punkte, 3 CDs und 2 E-Mails. Die 12 kamen um 9 Uhr.",
        "Sie gewannen 31:28. Version 1.2. ist da.",
    ],
    "pt": ["Meu CD tem 12 faixas. Em 1990 fiz 1.234,5 pontos. Guarda-chuva, bem-vindo, dá-me."],
    "it": ["A 16 l'area è 0x37. Il mio CD ha 12 brani. Nel 1990 ho fatto 1.234,5 punti. L'amico, un'ora, c'è."],
    "ja": ["2026年11月22日、$100kと28kmとhttps://example.com"],
    "nl": ["Dhr. Jansen betaalde $100k voor 28km."],
}

#: Repeated until they are long, as are those below.
ORDINARY = "The bridge, which was built in 1903, is 1,250 m long and cost $5.2 million; it opens at 9:30. "
HOSTILE = [
    "1", "/", ".", "$", "1.", "1,", "1/", "1-", "a/", "a.", "a.b@", ".a", "12:", "*", "_", "`", "[", "[a](", "](",
    "http://", "www.", "#", "+1", "(1", "XI", "1k", "$1k/", "°", "~", "&", "&a", "😀", "--", "1–", "a-", "1e", "x@x.",
    "1 ", "1\u00a0", " $", "Mr. ", "Henry I", "Aa II ", "1 + ", "5 km", "\n# ", "am 1. ",
    "<p ", "<!--", "<!-- ", "\n[x]: #", "|", "\n| a ", "[![", "](#", "<a@", "2:05:", "1h ", "5'", "1/2", "9/3oz",
]  # fmt: skip


@pytest.mark.parametrize(("language", "written", "spoken"), ROWS, ids=[f"{row[0]}-{row[1][:20]}" for row in ROWS])
def test_what_is_said_for_a_text(language, written, spoken):
    assert spoken_form(written, language) == spoken


@pytest.mark.parametrize("language", LEFT_ALONE)
def test_what_is_not_sure_is_left_alone(language):
    for text in LEFT_ALONE[language]:
        assert spoken_form(text, language) == text


@pytest.mark.parametrize("language", ["en", "es", "fr", "de", "pt", "it", "ja"])
def test_ordinary_prose_is_left_alone(language):
    contents = [post.content for post in POSTS if post.language == language]
    prose = [sentence for text in contents for sentence in split_text(text, limit=1_000, language=language)]
    ordinary = [sentence for sentence in prose if not re.search(r"[*#@<>`\[\]/_©&]|Ltd\.", sentence)]

    assert [spoken_form(sentence, language) for sentence in ordinary] == ordinary
    assert ordinary


def test_what_a_rule_fails_at_is_read_as_it_is_written(monkeypatch):
    monkeypatch.setattr(SpokenLanguage, "words", lambda *_, **__: {}["0"])

    assert spoken_form("It costs $5 & more.", "en") == "It costs $5 and more."


@given(
    text=st.text(
        st.one_of(st.sampled_from(" .,:;-–/$€%°ºkKmMhHIVX0123456789@#&+=~*_[]()\n\u00a0"), st.characters()), max_size=80
    ),
    language=st.sampled_from(["en", "es", "fr-CH", "de", "pt-PT", "it", "ja", "x-klingon"]),
)
@settings(max_examples=600, deadline=None)
def test_the_sources_of_the_spans_are_the_text(text, language):
    assert "".join(span.source for span in read(text, language)) == text


@pytest.mark.parametrize(
    ("language", "length"), [("en", 4_000), ("es", 1_000), ("fr", 1_000), ("de", 1_000), ("pt", 1_000), ("it", 1_000)]
)
def test_no_text_is_slow_to_read(language, length):
    def took(piece):
        return least_processor_time(lambda: read((piece * length)[:length], language))

    ordinary = took(ORDINARY)
    for piece in HOSTILE:
        assert took(piece) < 10 * ordinary, piece  # it is 5 times at most
