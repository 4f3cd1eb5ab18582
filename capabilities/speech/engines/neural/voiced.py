"""Voiced: what a speech network made of some phonemes, and how loud it shall be."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

#: The loudness of espeak: the root of the mean square of the moments in which somebody speaks, as a share of full
#: scale. Measured on ten sentences, it lies between 0.10 and 0.12.
LEVEL = 0.11
#: A moment, in samples at 22 or 24 kHz: about 20 ms. Those under a tenth of the loudest one's level are pauses.
MOMENT = 480
#: Never amplified more: a network that breathes or sighs shall not be made to shout.
MOST_GAIN = 8.0
PEAK = 0.97
#: Samples below this are silence: 40 decibels below full scale.
SILENCE = 0.01
#: Seconds of silence that are kept before and after a sentence by Kokoro or hibari, which make 0.3 and 0.7.
LEAD, TAIL = 0.05, 0.25


@dataclass(frozen=True, slots=True)
class Frames:
    """How many frames of equal length each input of a network lasts: as predicted, and rounded as it is spoken."""

    exact: Floats
    rounded: Floats
    is_rounded_up: bool

    def natural(self, speed: float) -> Floats:
        """Return how many frames each would last at speed 1, when these are of the speed `speed`."""
        exact = self.exact * speed
        return np.ceil(exact) if self.is_rounded_up else np.maximum(np.round(exact), 1.0)


@dataclass(frozen=True, slots=True)
class Voiced:
    """Samples, between -1 and 1; how many they would be at speed 1; and the sample at which each phoneme begins.

    `borders` has one number more than there are phonemes: where the last one ends. None: the network does not tell."""

    samples: Floats
    natural: float
    borders: Sequence[int] | None


def timed(
    samples: Floats, frames: Frames | None, *, speed: float, places: Sequence[int], kept: slice | None = None
) -> Voiced:
    """Return a sound, or the `kept` part of it, with the borders of its phonemes.

    Where the network does not tell these, it is taken to be as fast as it was asked to be. `places` are the inputs at
    which the phonemes begin, and the one after the last phoneme."""
    start, end = (0, len(samples)) if kept is None else (kept.start, kept.stop)
    if frames is None:
        return Voiced(samples[start:end], (end - start) * speed, None)
    ends = np.concatenate([[0.0], np.cumsum(frames.rounded, dtype=np.float64)])
    natural_ends = np.concatenate([[0.0], np.cumsum(frames.natural(speed), dtype=np.float64)])
    scale = len(samples) / ends[-1]
    borders = [min(max(round(border * scale), start), end) - start for border in ends[list(places)]]
    before, after = np.interp([start / scale, end / scale], ends, natural_ends)
    return Voiced(samples[start:end], float(after - before) * scale, borders)


def speech_in(samples: Floats, *, sample_rate: int, speed: float) -> slice:
    """Return which samples are speech, with LEAD and TAIL of the silence before and after it."""
    (heard,) = np.nonzero(np.abs(samples) > SILENCE)
    if not len(heard):
        return slice(0, len(samples))
    # As fast as the rest.
    before, after = (round(seconds / speed * sample_rate) for seconds in (LEAD, TAIL))
    return slice(max(0, int(heard[0]) - before), min(len(samples), int(heard[-1]) + 1 + after))


def levelled(samples: Floats) -> Floats:
    """Return a sentence as loud as espeak speaks, unless its peaks would be cut off then."""
    moments = samples[: len(samples) // MOMENT * MOMENT].reshape(-1, MOMENT)
    powers = np.mean(moments.astype(np.float64) ** 2, axis=1) if len(moments) else np.zeros(1)
    if (loudest := powers.max()) <= 0:
        return samples
    level = float(np.sqrt(powers[powers > loudest / 100].mean()))
    peak = float(np.abs(samples).max())
    return samples * np.float32(min(LEVEL / level, PEAK / peak, MOST_GAIN))


def encoded(samples: Floats) -> bytes:
    """Return samples as 16-bit numbers."""
    return (samples.clip(-1.0, 1.0) * 32_767).astype("<i2").tobytes()
