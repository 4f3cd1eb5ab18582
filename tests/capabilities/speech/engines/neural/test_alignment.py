"""Which phonemes of a sentence belong to which of its words."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from capabilities.speech.engines.neural.alignment import align, find_words
from capabilities.speech.engines.neural.speaking import split_phonemes


def test_words_that_run_together_are_told_apart() -> None:
    text = "Some of the cats, $5 each."
    alone = ["sˈʌm", "ʌv", "ðə", "kˈæts", "dˈɑːlɚ fˈaɪv", "ˈiːtʃ"]
    phonemes = "sˌʌm ʌvðə kˈæts, dˈɑːlɚ fˈaɪv ˈiːtʃ."

    aligned = align(find_words(text), alone, phonemes)

    assert [(text[word.start : word.end], phonemes[word.first : word.last]) for word in aligned] == [
        ("Some", "sˌʌm"),
        ("of", "ʌv"),
        ("the", "ðə"),
        ("cats,", "kˈæts"),
        ("$5", "dˈɑːlɚ fˈaɪv"),
        ("each.", "ˈiːtʃ"),
    ]


@given(st.lists(st.text("abc ", max_size=5), max_size=8), st.text("abc, ", max_size=30))
def test_words_never_overlap_and_stay_inside(alone: list[str], phonemes: str) -> None:
    aligned = align([(place, place + 1) for place in range(len(alone))], alone, phonemes)

    assert all(0 <= word.first < word.last <= len(phonemes) for word in aligned)
    assert all(first.last <= second.first for first, second in pairwise(aligned))


@given(st.text("ab ,.", max_size=100), st.integers(2, 30))
def test_splitting_keeps_every_phoneme(phonemes: str, most: int) -> None:
    parts = list(split_phonemes(phonemes, most))

    assert "".join(phonemes[first:last] for first, last in parts) == phonemes
    assert all(0 < last - first <= most for first, last in parts)
