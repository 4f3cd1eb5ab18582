"""Levelling: brings a sound to the loudness of podcasts, and keeps its peaks from clipping."""

from collections.abc import Callable, Iterator

import numpy as np

from workers.media.audio.gain import Levels, reduction, scaled, step_length, to_bytes
from workers.media.audio.loudness import MAX_GAIN, TARGET, Profile, gain_to, loudness, profile
from workers.media.audio.track import Track

#: The highest true peak: the API promises -1 dB, and the encoder adds up to 0.4 dB at 192k.
CEILING = 10 ** (-1.5 / 20)
#: The limiter's reach in steps: a period of a low voice, whose peaks are 5 dB too high for -16 LUFS. A longer reach
#: holds whole syllables down, and ends 1.5 LU short.
REACH = 6
#: The largest error in LU; the most corrections for what the limiter took; and the largest correction in decibels,
#: since more only raises what is quiet.
TOLERANCE = 0.1
ATTEMPTS = 6
MAX_CORRECTION = 4.0
#: Steps written at once: 8 s.
BLOCK_STEPS = 2**13


class Levelled:
    """A track's sound at -16 LUFS with true peaks under -1 dB; `measured` is its profile, if known.

    `gain_db` is added to that loudness, as far as the peaks allow."""

    def __init__(self, track: Track, measured: Profile | None = None, *, gain_db: float = 0.0) -> None:
        self._track = track
        self.sample_rate = track.sample_rate
        #: Called, from any thread, with the share of the sound that its encoders have read.
        self.on_read: Callable[[float], None] = lambda share: None
        self._read = 0
        levels = _levelled(measured or profile(track), gain_db) if len(track) else np.zeros(0, np.float32)
        self._levels: Levels = np.append(levels, levels[-1:])

    def __len__(self) -> int:
        return len(self._track)

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield samples (16 bit, little-endian) from `start` to before `stop`; several threads may at once."""
        step = step_length(self.sample_rate)
        stop = len(self) if stop is None else min(stop, len(self))
        for first in range(start // step, -(-stop // step), BLOCK_STEPS):
            part = self._levels[first : first + BLOCK_STEPS + 1]
            at = first * step
            block = self._track.read(at, min((part.size - 1) * step, stop - at))
            yield to_bytes(scaled(block, part, step)[max(0, start - at) :])
            # Parts overlap, and threads may count at once: near enough for a progress.
            self._read += block.size
            self.on_read(min(1.0, self._read / len(self)))


def _levelled(measured: Profile, gain_db: float) -> Levels:
    """Return the gain of each step that brings a sound to the target, with true peaks under the ceiling."""
    needed = gain = gain_to(measured)
    for _ in range(ATTEMPTS):
        factor = np.float32(10 ** (gain / 20))
        levels: Levels = factor * reduction(measured.peaks * factor, CEILING, REACH)
        missing = TARGET - loudness(measured, levels)
        if abs(missing) < TOLERANCE or not np.isfinite(missing):
            break
        gain = min(gain + missing, needed + MAX_CORRECTION, MAX_GAIN)
    if gain_db:
        levels = levels * np.float32(10 ** (gain_db / 20))
        levels = levels * reduction(measured.peaks * levels, CEILING)
    return levels
