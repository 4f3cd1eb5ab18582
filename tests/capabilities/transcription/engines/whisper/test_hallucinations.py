"""Hallucinations: what nobody has said is left out, and what somebody has said is kept."""

from types import SimpleNamespace
from typing import Any

import pytest

from capabilities.transcription.engines.whisper.hallucinations import without_hallucinations


def segment(text: str, *, no_speech: float = 0.1, log_probability: float = -0.3, ratio: float = 1.2) -> Any:
    """Return a segment as faster-whisper makes it, with a word for each word."""
    words = [SimpleNamespace(word=f" {word}") for word in text.split()]
    return SimpleNamespace(
        text="".join(word.word for word in words), words=words, no_speech_prob=no_speech,
        avg_logprob=log_probability, compression_ratio=ratio,
    )  # fmt: skip


def kept(*segments: Any) -> list[str]:
    return [found.text.strip() for found in without_hallucinations(segments)]


@pytest.mark.parametrize(
    "credit", ["Subtitles by the Amara.org community", "Untertitel im Auftrag des ZDF für funk, 2017", "♪ ♪", "..."]
)
def test_credits_of_subtitles_and_signs_without_a_word_are_left_out(credit: str) -> None:
    assert kept(segment("Good morning."), segment(credit)) == ["Good morning."]


@pytest.mark.parametrize("doubt", [{"no_speech": 0.8}, {"log_probability": -1.1}])
@pytest.mark.parametrize("text", ["Thanks for watching!", "you", "Vielen Dank.", "ご視聴ありがとうございました"])
def test_thanks_to_nobody_are_left_out_where_the_model_doubts_them(text: str, doubt: dict[str, float]) -> None:
    assert kept(segment("Good morning."), segment(text, **doubt)) == ["Good morning."]


def test_thanks_that_somebody_says_are_kept() -> None:
    assert kept(segment("Thank you."), segment("Thank you for watching the doors.", no_speech=0.8)) == [
        "Thank you.", "Thank you for watching the doors.",
    ]  # fmt: skip


def test_the_same_again_and_again_is_cut() -> None:
    again = [segment("And so we went on.") for _ in range(9)]

    assert kept(segment("We went."), *again, segment("The end of it.")) == [
        "We went.", "And so we went on.", "And so we went on.", "The end of it.",
    ]  # fmt: skip
    assert len(kept(*[segment("Yes.") for _ in range(5)])) == 5  # as people do say


@pytest.mark.parametrize("loop", ["and so we went on, ", "that ", "to be able "])
def test_a_loop_within_a_segment_stands_once_with_its_words(loop: str) -> None:
    looped = segment("We said " + loop * 12 + "and left.", ratio=5.0)

    [found] = without_hallucinations([looped])

    assert found.text.split() == ["We", "said", *loop.split(), "and", "left."]
    assert "".join(word.word for word in found.words).split()[:3] == ["We", "said", loop.split()[0]]
    assert len(found.words) <= len(found.text.split()) + 1


def test_what_people_repeat_is_kept_where_the_whole_is_no_loop() -> None:
    assert kept(segment("No, no, no, no, no, I said.")) == ["No, no, no, no, no, I said."]
