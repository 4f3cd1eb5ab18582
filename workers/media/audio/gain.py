"""Gain: makes a sound louder or softer, with a limiter that keeps its peaks from clipping.

Each step of a millisecond has a gain, interpolated linearly to the next one."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from workers.media.audio.pcm import Pcm

Samples = NDArray[np.int16]
#: A number per step.
Levels = NDArray[np.float32]
#: The largest sample of 16 bits.
FULL_SCALE = 32_767
#: The limiter's highest peak, with 1 dB of room for the curve between samples (the true peak).
CEILING = FULL_SCALE * 10 ** (-1 / 20)
#: About how many samples are processed at once, to save memory.
BLOCK = 2**20
#: Steps per second.
STEPS_PER_SECOND = 1_000
#: Steps in which the limiter turns down before a peak and up after it: 40 ms, four periods of a low voice (100 Hz). A
#: quicker limiter follows single periods, which is heard as distortion.
REACH = 40


def apply_gain(sound: Pcm, gain_db: float, *, reach: int = REACH) -> Pcm:
    """Return the sound changed by exactly `gain_db`, and limited if its peak would pass full scale."""
    factor = float(10 ** (gain_db / 20))
    samples = np.frombuffer(sound.samples, dtype="<i2")
    if factor == 1.0 or not samples.size:
        return sound
    step = step_length(sound.sample_rate)
    if factor * max(int(samples.max()), -int(samples.min())) <= FULL_SCALE:
        levels = np.full(-(-samples.size // step), factor, np.float32)
    else:
        levels = np.float32(factor) * reduction(_peaks(samples, step) * np.float32(factor), CEILING, reach)
    followed = np.append(levels, levels[-1])
    size = BLOCK // step
    blocks = []
    for first in range(0, levels.size, size):
        block = samples[first * step : (first + size) * step]
        blocks.append(to_bytes(scaled(block, followed[first : first + size + 1], step)))
    return Pcm(b"".join(blocks), sound.sample_rate)


def step_length(sample_rate: int) -> int:
    """Return the samples of a step."""
    return max(1, round(sample_rate / STEPS_PER_SECOND))


def reduction(peaks: Levels, ceiling: float, reach: int = REACH) -> Levels:
    """Return the largest smooth gain (0–1) of each step that keeps the peaks under the ceiling."""
    needed = np.minimum(1, ceiling / np.maximum(peaks, 1e-9), dtype=np.float32)
    lowest = sliding_window_view(np.pad(needed, reach, mode="edge"), 2 * reach + 1).min(axis=1)
    # The mean reaches one step less than the minimum, so no step, nor the line to its neighbours, exceeds its need.
    width = 2 * reach - 1
    return np.convolve(np.pad(lowest, reach - 1, mode="edge"), np.full(width, 1 / width), "valid").astype(np.float32)


def scaled(block: Samples | NDArray[np.float32], levels: Levels, step: int) -> NDArray[np.float32]:
    """Return a block of samples times its `levels`, which end with the level of the next step."""
    slope = (np.arange(step) / step).astype(np.float32)
    gain = levels[:-1, None] + np.diff(levels)[:, None] * slope
    return np.multiply(block, gain.reshape(-1)[: block.size], dtype=np.float32)


def to_bytes(samples: NDArray[np.float32]) -> bytes:
    """Return float samples, full scale 32,767, as 16 bits."""
    return np.rint(np.clip(samples, -32_768, 32_767)).astype("<i2").tobytes()


def _peaks(samples: Samples, step: int) -> Levels:
    rows = np.pad(samples, (0, -samples.size % step)).reshape(-1, step)
    peaks: Levels = np.maximum(rows.max(axis=1), -rows.min(axis=1).astype(np.int32)).astype(np.float32)
    return peaks
