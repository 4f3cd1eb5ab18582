"""Loudness: what BS.1770 says a sound's is, and the gain that makes it another."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from workers.media.audio.limiter import Levels, reduction, scaled, step_length
from workers.media.audio.metering import Profile, profile
from workers.media.audio.track import Track

#: What is made here is as loud as podcasts are, in LUFS.
TARGET = -16.0

#: Where true peaks are held: the API promises -1 dB, and the encoder moves them by up to 0.4 dB at 192k.
CEILING = 10 ** (-1.5 / 20)

#: The most that a quiet sound is raised, in decibels; past it there is only noise.
MAX_GAIN = 40.0

#: Steps of the limiter's reach: a period of a low voice. In each period a voice has peaks that are 5 dB too high for
#: -16 LUFS; a limiter that reaches farther holds the whole syllable down with its peak, and ends 1.5 LU short.
REACH = 6

#: How near the target is near enough, in LU; how often the gain is corrected for what the limiter took; and by how much
#: at most, in decibels: farther, it only raises what is quiet.
TOLERANCE = 0.1
ATTEMPTS = 6
MAX_CORRECTION = 4.0

#: BS.1770-5, annex 1: blocks of 400 ms, a quarter apart; gates; and the constant that puts a full-scale sine of 1 kHz
#: at -3.01.
HOP_SECONDS = 0.1
HOPS_PER_BLOCK = 4
ABSOLUTE_GATE = -70.0
RELATIVE_GATE = -10.0
OFFSET = -0.691

SILENCE = float("-inf")

#: Steps written at once: 8 s.
BLOCK_STEPS = 2**13


def loudness(measured: Profile, levels: Levels | None = None) -> float:
    """Return the integrated loudness in LUFS, as it is or as `levels` (a gain for each step) would make it.

    Sounds under 400 ms count as one block. Minus infinity is silence.
    """
    powers = measured.powers if levels is None else measured.powers * levels * levels
    blocks = _block_powers(powers, max(1, round(HOP_SECONDS / measured.step_seconds)))
    audible = blocks[blocks > _power(ABSOLUTE_GATE)]
    if not audible.size:
        return SILENCE
    gate = audible.mean() * 10 ** (RELATIVE_GATE / 10)
    return _lufs(float(audible[audible > gate].mean()))


def levelled(measured: Profile, target: float = TARGET) -> Levels:
    """Return the gain for each step that brings a sound to `target` LUFS with its true peaks under the ceiling."""
    needed = gain = gain_to(measured, target)
    for _ in range(ATTEMPTS):
        factor = np.float32(10 ** (gain / 20))
        levels: Levels = factor * reduction(measured.peaks * factor, CEILING, REACH)
        missing = target - loudness(measured, levels)
        if abs(missing) < TOLERANCE or not np.isfinite(missing):
            break
        gain = min(gain + missing, needed + MAX_CORRECTION, MAX_GAIN)
    return levels


def gain_to(measured: Profile, target: float = TARGET) -> float:
    """Return the gain in decibels from a sound's loudness to `target`; 0 for silence."""
    current = loudness(measured)
    return min(target - current, MAX_GAIN) if current > SILENCE else 0.0


def normalised(track: Track) -> Iterator[bytes]:
    """Yield a sound's samples, block by block, brought to -16 LUFS with its true peaks under -1 dB."""
    if not len(track):
        return
    step, levels = step_length(track.sample_rate), levelled(profile(track))
    followed = np.append(levels, levels[-1])
    for first in range(0, levels.size, BLOCK_STEPS):
        part = followed[first : first + BLOCK_STEPS + 1]
        block = track.read(first * step, min((part.size - 1) * step, len(track) - first * step))
        yield to_bytes(scaled(block, part, step))


def to_bytes(samples: NDArray[np.float32]) -> bytes:
    """Return float samples, full scale at 32,767, as 16 bits."""
    return np.rint(np.clip(samples, -32_768, 32_767)).astype("<i2").tobytes()


def _block_powers(powers: Levels, hop: int) -> NDArray[np.float64]:
    """Return the mean powers of overlapping blocks."""
    hops = powers[: powers.size // hop * hop].reshape(-1, hop).mean(axis=1, dtype=np.float64)
    if hops.size < HOPS_PER_BLOCK:
        return np.array([powers.mean(dtype=np.float64)]) if powers.size else np.zeros(0)
    blocks: NDArray[np.float64] = np.lib.stride_tricks.sliding_window_view(hops, HOPS_PER_BLOCK).mean(axis=1)
    return blocks


def _lufs(power: float) -> float:
    return OFFSET + 10 * float(np.log10(power))


def _power(lufs: float) -> float:
    return float(10 ** ((lufs - OFFSET) / 10))
