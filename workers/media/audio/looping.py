"""Looping: music made as long as it is needed, with seams that nobody hears."""

from collections.abc import Iterator
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from workers.media.audio.track import BLOCK, Track

#: How long the end of the music overlaps its beginning: a quarter of the music at most.
SEAM = timedelta(seconds=2)


def looped(music: Track, *, needed: int) -> Iterator[NDArray[np.float32]]:
    """Yield a sound in blocks: as it is when it has the samples `needed`, else again and again, without end.

    Over each seam its end fades into its beginning at equal power, so that neither a click nor a dip is heard. Yields
    nothing when there is no sound.
    """
    length = len(music)
    if length >= needed:
        yield from _parts(music, 0, length)
        return
    seam_length = min(round(SEAM.total_seconds() * music.sample_rate), length // 4)
    seam = _seam(music, length, seam_length)
    yield from _parts(music, 0, length - seam_length)
    if length < BLOCK:
        # One block for many rounds of a short sound.
        around = np.concatenate([seam, *_parts(music, seam_length, length - seam_length)])
        around = np.tile(around, -(-BLOCK // around.size)) if around.size else around
        while around.size:
            yield around
    while length:
        yield seam
        yield from _parts(music, seam_length, length - seam_length)


def _seam(music: Track, length: int, seam_length: int) -> NDArray[np.float32]:
    turn = (np.arange(seam_length) + 0.5) / max(seam_length, 1) * np.pi / 2
    ending, beginning = music.read(length - seam_length, seam_length), music.read(0, seam_length)
    return (ending * np.cos(turn) + beginning * np.sin(turn)).astype(np.float32)


def _parts(music: Track, start: int, stop: int) -> Iterator[NDArray[np.float32]]:
    for first in range(start, stop, BLOCK):
        yield music.read(first, min(BLOCK, stop - first)).astype(np.float32)
