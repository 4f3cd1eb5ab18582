"""Windows: a long track in pieces of some minutes, cut where it is quietest, and so hardly ever within a word."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from workers.media.audio.track import Samples, Track

#: How long it must be quiet, as pauses between sentences are; the loudness of so much is compared.
PAUSE_SECONDS = 0.4
#: What part of a window may be left out, to find a quiet place; at most so many seconds.
MOST_LEFT_OUT = 0.5
MOST_SEARCHED = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Window:
    """The samples from `start` until before `stop`."""

    start: int
    stop: int


def windows(track: Track, *, length: timedelta, start: int = 0) -> Iterator[Window]:
    """Yield the windows of a track from a sample on; each is at most `length` long, and all of them are the track."""
    longest = round(length.total_seconds() * track.sample_rate)
    searched = round(min(MOST_SEARCHED, length * MOST_LEFT_OUT).total_seconds() * track.sample_rate)
    while start < len(track):
        stop = min(start + longest, len(track))
        if stop < len(track):
            found = stop - searched
            stop = found + quietest(track.read(found, searched), track.sample_rate)
        yield Window(start, stop)
        start = stop


def quietest(samples: Samples, sample_rate: int) -> int:
    """Return the middle of the quietest pause, as the number of a sample; the last one of several."""
    block = sample_rate // 100
    count = len(samples) // block
    blocks = samples[: count * block].reshape(count, block).astype(np.float32)
    pause = min(count, round(PAUSE_SECONDS * 100))
    powers = np.convolve(np.square(blocks).mean(axis=1), np.ones(pause), mode="valid")
    last = len(powers) - 1 - int(np.argmin(powers[::-1]))
    return int((last + pause / 2) * block)
