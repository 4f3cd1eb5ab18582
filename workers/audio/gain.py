"""Gain: louder or softer by decibels; past full scale a limiter holds the peaks, so that nothing clips."""

from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from workers.audio.pcm import Pcm

#: The largest sample of 16 bits.
FULL_SCALE = 32_767

#: Where the limiter holds the peaks: 1 dB of room for the curve between two samples (the true peak).
CEILING = FULL_SCALE * 10 ** (-1 / 20)

#: How finely the limiter follows the level.
STEP = timedelta(milliseconds=1)

#: Steps over which the limiter turns down before a peak and up after it: 40 ms, four periods of a low voice (100 Hz).
#: A quicker limiter follows the single periods, and is heard as distortion.
REACH = 40

#: Samples worked on at once, so that an hour of sound needs little memory beside its own.
BLOCK = 2**20

Samples = NDArray[np.int16]
Levels = NDArray[np.float32]


def apply_gain(sound: Pcm, gain_db: float) -> Pcm:
    """Return the sound changed by exactly `gain_db` while its peak stays within full scale, and limited past that."""
    factor = float(10 ** (gain_db / 20))
    samples = np.frombuffer(sound.samples, dtype="<i2")
    if factor == 1.0 or not samples.size:
        return sound
    if factor * max(int(samples.max()), -int(samples.min())) <= FULL_SCALE:
        return Pcm(_scaled(samples, np.array([factor], np.float32), step=samples.size), sound.sample_rate)
    step = round(sound.sample_rate * STEP.total_seconds())
    return Pcm(_scaled(samples, factor * _reduction(samples, factor, step), step), sound.sample_rate)


def _reduction(samples: Samples, factor: float, step: int) -> Levels:
    """Return, for each step, the largest gain (0–1) that keeps it under the ceiling, changing smoothly."""
    padded = np.pad(samples, (0, -samples.size % step)).reshape(-1, step)
    peaks = np.maximum(padded.max(axis=1), -padded.min(axis=1).astype(np.int32)).astype(np.float32) * factor
    needed = np.minimum(1, CEILING / np.maximum(peaks, 1), dtype=np.float32)
    # The mean reaches one step less than the minimum, so no step, nor the line to its neighbours, is above its need.
    lowest = np.lib.stride_tricks.sliding_window_view(_edged(needed, REACH), 2 * REACH + 1).min(axis=1)
    reach = REACH - 1
    total = np.cumsum(np.concatenate(([0.0], _edged(lowest, reach))), dtype=np.float64)
    width = 2 * reach + 1
    return ((total[width:] - total[:-width]) / width).astype(np.float32)


def _scaled(samples: Samples, levels: Levels, step: int) -> bytes:
    """Return the samples times the levels of their steps, with straight lines between the middles of the steps."""
    middles = (np.arange(levels.size) + 0.5) * step
    blocks = []
    for start in range(0, samples.size, BLOCK):
        block = samples[start : start + BLOCK]
        level = np.interp(np.arange(start, start + block.size), middles, levels)
        blocks.append(np.rint(block * level).astype("<i2").tobytes())
    return b"".join(blocks)


def _edged(levels: Levels, reach: int) -> Levels:
    return np.pad(levels, reach, mode="edge")
