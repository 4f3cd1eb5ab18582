"""Limiter: the gain that holds peaks under a ceiling, and changes too smoothly to be heard.

Gain goes by steps of a millisecond; within a step it moves in a straight line to the next step's.
"""

import numpy as np
from numpy.typing import NDArray

Levels = NDArray[np.float32]

#: How finely the limiter follows the level, in steps a second.
STEPS_PER_SECOND = 1_000

#: Steps over which the limiter turns down before a peak and up after it: 40 ms, four periods of a low voice (100 Hz).
#: A quicker limiter follows the single periods, and is heard as distortion.
REACH = 40


def step_length(sample_rate: int) -> int:
    """Return the samples of a step."""
    return max(1, round(sample_rate / STEPS_PER_SECOND))


def reduction(peaks: Levels, ceiling: float, reach: int = REACH) -> Levels:
    """Return, for each step, the largest gain (0–1) that keeps the peaks under the ceiling, changing smoothly."""
    needed = np.minimum(1, ceiling / np.maximum(peaks, 1e-9), dtype=np.float32)
    # The mean reaches one step less than the minimum, so no step, nor the line to its neighbours, is above its need.
    width = 2 * reach - 1
    total = np.cumsum(np.pad(_edged(_lowest(needed, reach), reach - 1), (1, 0)), dtype=np.float64)
    return np.divide(total[width:] - total[:-width], width).astype(np.float32)


def scaled(block: NDArray[np.int16] | NDArray[np.float32], levels: Levels, step: int) -> NDArray[np.float32]:
    """Return a block of samples times the levels of its steps; `levels` has those, and that of the step behind."""
    slope = (np.arange(step) / step).astype(np.float32)
    gain = levels[:-1, None] + np.diff(levels)[:, None] * slope
    return np.multiply(block, gain.reshape(-1)[: block.size], dtype=np.float32)


def _lowest(levels: Levels, reach: int) -> Levels:
    """Return the least level within `reach` of each step, by doubling: for 81 steps 7 passes."""
    width, lowest = 1, _edged(levels, reach)
    while 2 * width <= 2 * reach + 1:
        lowest = np.minimum(lowest[:-width], lowest[width:])
        width *= 2
    rest = 2 * reach + 1 - width
    return np.minimum(lowest[: lowest.size - rest], lowest[rest:])


def _edged(levels: Levels, reach: int) -> Levels:
    return np.pad(levels, reach, mode="edge")
