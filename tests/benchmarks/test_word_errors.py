"""Word errors: what counts as the same words, however they are written, and what does not."""

import pytest

from benchmarks.quality.words import count_errors, plain


@pytest.mark.parametrize(
    ("written", "heard"),
    [
        ("It costs $3 million.", "it costs three million dollars"),
        ("On May 8, 1945", "on May 8th, 1945"),
        ("at 6:30 p.m.", "at six thirty PM"),
        ("The U.S. and the UN", "the US and the U.N."),
        ("28 km", "twenty-eight kilometers"),
        ("60%", "sixty percent"),
        ("Dr. Lee vs. the harbour", "Doctor Lee versus the harbor"),
    ],
)
def test_the_same_words_are_the_same_however_they_are_written(written: str, heard: str) -> None:
    assert plain(written) == plain(heard)
    assert count_errors([(written, heard)]).wrong == 0


def test_a_word_that_is_wrong_missing_or_too_many_counts_once() -> None:
    errors = count_errors([("the cat sat", "the dog sat"), ("it rained", "it"), ("we left", "we have left")])

    assert (errors.wrong, errors.words) == (3, 7)
    assert errors.share == pytest.approx(3 / 7)


def test_other_languages_are_compared_without_accents_and_with_numbers_in_words() -> None:
    assert plain("¿Dónde está el 2?", "es") == plain("donde esta el dos", "es")
    assert count_errors([("Набранный номер.", "набранный номер")], language="ru").wrong == 0
