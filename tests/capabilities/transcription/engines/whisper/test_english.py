"""English only: speech that the model has passed over is heard by itself, whatever stands around it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from faster_whisper.transcribe import Segment, Word
from spoken import RATE, samples_of

from capabilities.transcription.engines import Foreign
from capabilities.transcription.engines.whisper.english import EnglishOnly

FIRST = samples_of("market").astype(np.float32) / 32_768
SECOND = samples_of("newspaper").astype(np.float32) / 32_768
BOTH = np.concatenate([FIRST, SECOND])
MIDDLE = len(FIRST) / RATE
SURE, UNSURE = -0.1, -2.0


def said(text: str, start: float, end: float, log_probability: float = SURE) -> Segment:
    words = [Word(start, end, text, 0.9)]
    return Segment(0, 0, start, end, text, [], log_probability, 1.0, 0.0, words, 0.0)


class NoModel:
    """One that hears no word in a sound that is played faster."""

    def transcribe(self, sound: Any, **how: Any) -> tuple[list[Segment], None]:
        return [], None


def kept(sound: Any, *answers: list[Segment]) -> tuple[list[Any], list[int]]:
    """Return what is kept when these are the answers of the model, and how many samples it was given each time."""
    given: list[int] = []

    def hear(part: Any) -> list[Segment]:
        given.append(len(part))
        return answers[len(given) - 1]

    return list(EnglishOnly(NoModel(), sound, hear).kept()), given


@pytest.mark.parametrize(
    ("answers", "starts"),
    [
        ([[said("first", 0.0, MIDDLE)], [said("second", 0.5, 4.0)]], MIDDLE),
        ([[said("second", MIDDLE, len(BOTH) / RATE)], [said("first", 0.5, 4.0)]], 0.0),
    ],
    ids=["at the end", "at the start"],
)
def test_speech_that_was_passed_over_is_heard_by_itself(answers: list[list[Segment]], starts: float) -> None:
    found, given = kept(BOTH, *answers)

    assert len(given) == 2
    assert given[0] == len(BOTH)
    assert 3 * RATE < given[1] < len(BOTH) - 3 * RATE
    assert [segment.start for segment in found] == sorted(segment.start for segment in found)
    (later,) = (segment for segment in found if segment.text == answers[1][0].text)
    assert later.start == pytest.approx(starts + 0.5, abs=0.7)  # it begins with its speech
    assert later.end - later.start == pytest.approx(3.5)
    assert (later.words[0].start, later.words[0].end) == (later.start, later.end)


def test_it_is_left_out_where_it_is_not_english() -> None:
    found, _ = kept(BOTH, [said("first", 0.0, MIDDLE)], [said("made up", 0.0, 5.0, UNSURE)])

    assert [type(part) for part in found] == [Segment, Foreign]
    assert found[1].start == pytest.approx(MIDDLE, abs=0.7)


def test_it_is_asked_for_once_even_if_the_model_stays_silent() -> None:
    found, given = kept(BOTH, [said("first", 0.0, MIDDLE)], [])

    assert [segment.text for segment in found] == ["first"]
    assert len(given) == 2


@pytest.mark.parametrize(
    "rest",
    [
        lambda: np.zeros(60 * RATE, np.float32),
        lambda: SECOND[: 2 * RATE],
        lambda: 0.1 * np.random.default_rng(1).standard_normal(20 * RATE, np.float32),
    ],
    ids=["silence", "two seconds of speech", "noise"],
)
def test_where_hardly_anybody_speaks_nothing_is_heard_again(rest: Callable[[], Any]) -> None:
    _, given = kept(np.concatenate([FIRST, rest()]), [said("first", 0.0, MIDDLE)])

    assert len(given) == 1
