"""Windows: all of a track, in pieces that end where it is quiet."""

from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest
from spoken import RATE, samples_of

from workers.media.audio.track import Track, windows

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


# Spans of speech, by a detector's probabilities.
