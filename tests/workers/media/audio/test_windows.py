"""Windows: all of a track, in pieces that end where it is quiet."""

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest
from spoken import RATE, samples_of

from workers.engines.transcription.voice import CHUNK_SECONDS, LONGEST, spans
from workers.media.audio.track import Track, quietest, windows

TEN_SECONDS = timedelta(seconds=10)


@pytest.fixture
def speech(track_of: Callable[..., Track]) -> Track:
    """25 s of speech, with pauses between its three parts."""
    pause = np.zeros(RATE // 2)
    parts = [samples_of(name) / 32_768 for name in ("library", "market", "library")]
    return track_of(np.concatenate([parts[0], pause, parts[1], pause, parts[2]]), RATE)


def test_windows_are_the_whole_track_and_none_is_too_long(speech: Track) -> None:
    found = list(windows(speech, length=TEN_SECONDS))

    assert [window.start for window in found] == [0, *(window.stop for window in found[:-1])]
    assert found[-1].stop == len(speech)
    assert all(0 < window.stop - window.start <= 10 * RATE for window in found)


def test_they_end_where_nobody_speaks(speech: Track) -> None:
    *found, _ = windows(speech, length=TEN_SECONDS)

    for window in found:
        around = speech.read(window.stop - RATE // 10, RATE // 5)
        assert np.abs(around).max() < 400


def test_who_goes_on_from_a_window_gets_the_same_ones(speech: Track) -> None:
    first, *others = windows(speech, length=TEN_SECONDS)

    assert list(windows(speech, length=TEN_SECONDS, start=first.stop)) == others
    assert list(windows(speech, length=TEN_SECONDS, start=len(speech))) == []


def test_what_fits_is_one_window(speech: Track) -> None:
    [window] = windows(speech, length=timedelta(minutes=5))
    assert (window.start, window.stop) == (0, len(speech))


def test_the_quietest_place_is_the_middle_of_a_pause() -> None:
    loud = np.full(RATE, 9_000, np.int16)
    pause = np.zeros(RATE // 2, np.int16)

    assert quietest(np.concatenate([loud, pause, loud]), RATE) == pytest.approx(1.25 * RATE, abs=RATE // 5)


# Spans of speech, by a detector's probabilities.


def test_speech_is_joined_over_short_pauses_and_widened_into_silence() -> None:
    probabilities = np.concatenate([np.zeros(100), np.ones(50), np.zeros(8), np.ones(50), np.zeros(100)])

    [span] = spans(probabilities, len(probabilities) * CHUNK_SECONDS)

    assert span.start == pytest.approx(100 * CHUNK_SECONDS - 0.3)
    assert span.end == pytest.approx(208 * CHUNK_SECONDS + 0.3)


def test_what_is_short_or_never_certain_is_no_speech() -> None:
    probabilities = np.concatenate([np.full(50, 0.7), np.zeros(50), np.ones(5), np.zeros(50)])

    assert spans(probabilities, len(probabilities) * CHUNK_SECONDS) == []


def test_endless_speech_is_parted_and_parts_never_overlap() -> None:
    probabilities = np.full(4_000, 0.95)
    probabilities[600] = 0.6

    parts = spans(probabilities, 4_000 * CHUNK_SECONDS)

    assert parts[0].start == 0
    assert parts[-1].end == 4_000 * CHUNK_SECONDS
    assert all(part.end - part.start <= LONGEST + 0.6 for part in parts)
    assert [part.start for part in parts[1:]] == pytest.approx([part.end for part in parts[:-1]])
    assert 600 * CHUNK_SECONDS in [pytest.approx(part.end) for part in parts]
