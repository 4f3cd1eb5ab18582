"""Levelling: a sound brought to the loudness of podcasts, and kept from peaks that would clip."""

from collections.abc import Callable, Iterator

import numpy as np

from workers.media.audio.gain import Levels, reduction, scaled, step_length, to_bytes
from workers.media.audio.loudness import MAX_GAIN, TARGET, Profile, gain_to, loudness, profile
from workers.media.audio.track import Track

#: Where true peaks are held: the API promises -1 dB, and the encoder moves them by up to 0.4 dB at 192k.
CEILING = 10 ** (-1.5 / 20)
#: Steps of the limiter's reach: a period of a low voice. In each period a voice has peaks that are 5 dB too high for
#: -16 LUFS; a limiter that reaches farther holds the whole syllable down with its peak, and ends 1.5 LU short.
REACH = 6
#: The largest error of the loudness, in LU; how often the gain is corrected for what the limiter took; and by how much
#: at most, in decibels: a larger correction only raises what is quiet.
TOLERANCE = 0.1
ATTEMPTS = 6
MAX_CORRECTION = 4.0
#: Steps written at once: 8 s.
BLOCK_STEPS = 2**13


class Levelled:
    """A track's sound at -16 LUFS with its true peaks under -1 dB; `measured` is what a Meter has made of it."""

    def __init__(self, track: Track, measured: Profile | None = None) -> None:
        self._track = track
        self.sample_rate = track.sample_rate
        #: Called, from any thread, with the share of the sound that its encoders have read.
        self.on_read: Callable[[float], None] = lambda share: None
        self._read = 0
        levels = _levelled(measured or profile(track)) if len(track) else np.zeros(0, np.float32)
        self._levels: Levels = np.append(levels, levels[-1:])

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._track)

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield samples (16 bit, little-endian) from `start` to before `stop`; several threads may, each for itself."""
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


def _levelled(measured: Profile) -> Levels:
    """Return the gain for each step that brings a sound to the target with its true peaks under the ceiling."""
    needed = gain = gain_to(measured)
    for _ in range(ATTEMPTS):
        factor = np.float32(10 ** (gain / 20))
        levels: Levels = factor * reduction(measured.peaks * factor, CEILING, REACH)
        missing = TARGET - loudness(measured, levels)
        if abs(missing) < TOLERANCE or not np.isfinite(missing):
            break
        gain = min(gain + missing, needed + MAX_CORRECTION, MAX_GAIN)
    return levels
