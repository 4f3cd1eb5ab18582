"""Gain: louder or softer by decibels; past full scale a limiter holds the peaks, so that nothing clips."""

import numpy as np
from numpy.typing import NDArray

from workers.media.audio.limiter import Levels, reduction, scaled, step_length
from workers.media.audio.pcm import Pcm

#: The largest sample of 16 bits.
FULL_SCALE = 32_767

#: Where the limiter holds the peaks: 1 dB of room for the curve between two samples (the true peak).
CEILING = FULL_SCALE * 10 ** (-1 / 20)

#: Samples worked on at once, more or less, so that an hour of sound needs little memory beside its own.
BLOCK = 2**20

Samples = NDArray[np.int16]


def apply_gain(sound: Pcm, gain_db: float) -> Pcm:
    """Return the sound changed by exactly `gain_db` while its peak stays within full scale, and limited past that."""
    factor = float(10 ** (gain_db / 20))
    samples = np.frombuffer(sound.samples, dtype="<i2")
    if factor == 1.0 or not samples.size:
        return sound
    step = step_length(sound.sample_rate)
    if factor * max(int(samples.max()), -int(samples.min())) <= FULL_SCALE:
        levels = np.full(-(-samples.size // step), factor, np.float32)
    else:
        levels = np.float32(factor) * reduction(_peaks(samples, step) * np.float32(factor), CEILING)
    return Pcm(_scaled(samples, levels, step), sound.sample_rate)


def _peaks(samples: Samples, step: int) -> Levels:
    rows = np.pad(samples, (0, -samples.size % step)).reshape(-1, step)
    peaks: Levels = np.maximum(rows.max(axis=1), -rows.min(axis=1).astype(np.int32)).astype(np.float32)
    return peaks


def _scaled(samples: Samples, levels: Levels, step: int) -> bytes:
    followed = np.append(levels, levels[-1])
    size = BLOCK // step
    blocks = []
    for first in range(0, levels.size, size):
        block = samples[first * step : (first + size) * step]
        blocks.append(np.rint(scaled(block, followed[first : first + size + 1], step)).astype("<i2").tobytes())
    return b"".join(blocks)
