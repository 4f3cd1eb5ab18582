"""Word times: Whisper's, corrected by where the sound is loud.

Whisper's attention tells where a word begins, within a tenth of a second; its end is where the next word begins, so
pauses count as parts of words.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capabilities.transcription.engines import SAMPLE_RATE

#: Samples whose level is looked at together: 10 ms.
FRAME = SAMPLE_RATE // 100
#: A frame is loud if it is less than this under the loud ones of its clip, and as much above the quiet ones.
BELOW_LOUD_DB, ABOVE_QUIET_DB = 32.0, 6.0
#: Seconds: shorter gaps are consonants; a longer one within a word is a pause, of which the word is on one side.
SHORTEST_GAP, PAUSE = 0.08, 0.2
#: How far, in seconds, the first and last word of a run are moved out to its ends.
REACH = 0.3
#: The shortest word, in seconds.
SHORTEST = 0.04

Run = tuple[float, float]


def corrected(segments: Sequence[Any], runs: Sequence[Run]) -> Iterator[Any]:
    """Yield faster-whisper's segments of a clip with their words moved to where it is loud, none upon another."""
    words = [word for segment in segments for word in segment.words or ()]
    heard = [(word.start, word.end, *_loud_part(word.start, word.end, runs)) for word in words]
    # The first and the last word of a run reach its ends; another one reaches the next word.
    begins = [first if start - first <= REACH else start for start, _, first, _ in heard]
    ends = [last if last - end <= REACH else end for _, end, _, last in heard]
    limits = [max(start, first) for start, _, first, _ in heard[1:]]
    after, placed = 0.0, []
    for word, begin, end, limit in zip(words, begins, ends, [*limits, float("inf")], strict=True):
        begin = max(begin, after)
        after = max(min(end, limit), begin + SHORTEST)
        placed.append(replace(word, start=begin, end=after))
    for segment in segments:
        own, placed = placed[: len(segment.words or ())], placed[len(segment.words or ()) :]
        yield replace(segment, words=own, start=own[0].start, end=own[-1].end) if own else segment


def loud_runs(sound: NDArray[Any], start: int, stop: int) -> list[Run]:
    """Return the stretches of a clip in which something is heard, in seconds of the sound."""
    frames = sound[start : start + (stop - start) // FRAME * FRAME].reshape(-1, FRAME)
    if not len(frames):
        return []
    levels = 10 * np.log10(np.mean(np.square(frames), axis=1) + 1e-10)
    quiet, loud = np.percentile(levels, [5, 95])
    is_loud = levels > max(loud - BELOW_LOUD_DB, min(quiet + ABOVE_QUIET_DB, loud - ABOVE_QUIET_DB))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_loud.astype(np.int8), [0]])))
    found = [(start / SAMPLE_RATE + a / 100, start / SAMPLE_RATE + b / 100) for a, b in edges.reshape(-1, 2)]
    return list(_joined(found))


def _joined(runs: Sequence[Run]) -> Iterator[Run]:
    """Yield runs without the gaps of consonants."""
    gaps = [place for place, (one, other) in enumerate(pairwise(runs)) if other[0] - one[1] >= SHORTEST_GAP]
    for first, last in pairwise([-1, *gaps, len(runs) - 1] if runs else [-1]):
        if last > first:
            yield runs[first + 1][0], runs[last][1]


def _loud_part(start: float, end: float, runs: Sequence[Run]) -> Run:
    """Return the ends of the runs in which a word is heard: those on one side of a pause; without any, its own."""
    heard = [run for run in runs if run[0] < end and run[1] > start]
    groups = [heard[:1]]
    for one, other in pairwise(heard):
        if other[0] - one[1] >= PAUSE:
            groups.append([])
        groups[-1].append(other)
    best = max(groups, key=lambda group: sum(min(b, end) - max(a, start) for a, b in group))
    return (best[0][0], best[-1][1]) if best else (start, end)
