"""Voiced: the sound that a speech network makes of phonemes, and its level."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
#: The root mean square of the moments with speech, as a share of full scale. espeak's is 0.10 to 0.12; with as much,
#: the peaks of one sentence in five would be too high, and it would be quieter than the others.
LEVEL = 0.09
#: The same in LUFS. Together with what a limiter takes at -16 LUFS, Piper's networks end 1 LU lower.
LOUDNESS = -22.7
#: A moment, in samples at 22 or 24 kHz: about 20 ms. Those under a tenth of the loudest one's level are pauses.
MOMENT = 480
#: The largest amplification, so that a breath or sigh does not become a shout.
MOST_GAIN = 8.0
PEAK = 0.97
#: Samples below this are silence: 40 decibels below full scale.
SILENCE = 0.01
#: Seconds of silence kept before and after a sentence of Kokoro or hibari, which make 0.3 and 0.7.
LEAD, TAIL = 0.05, 0.25


@dataclass(frozen=True, slots=True)
class Frames:
    """The frames that each input of a network lasts, as predicted and as rounded for the sound."""

    exact: Floats
    rounded: Floats
    is_rounded_up: bool

    def natural(self, speed: float) -> Floats:
        """Return the frames at speed 1, given that these are at `speed`."""
        exact = self.exact * speed
        return np.ceil(exact) if self.is_rounded_up else np.maximum(np.round(exact), 1.0)


@dataclass(frozen=True, slots=True)
class Voiced:
    """Samples, between -1 and 1; their number at speed 1; and the sample at which each phoneme begins.

    `borders` ends with the end of the last phoneme; it is None if the network does not tell."""

    samples: Floats
    natural: float
    borders: Sequence[int] | None


def timed(
    samples: Floats, frames: Frames | None, *, speed: float, places: Sequence[int], kept: slice | None = None
) -> Voiced:
    """Return a sound, or the `kept` part of it, with the borders of its phonemes.

    `places` are the inputs at which the phonemes begin, and the one after the last. Without frames, the sound is
    taken to have the speed that was asked for."""
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
    """Return the samples of speech, with LEAD and TAIL of the silence around it, as fast as the rest."""
    (heard,) = np.nonzero(np.abs(samples) > SILENCE)
    if not len(heard):
        return slice(0, len(samples))
    before, after = (round(seconds / speed * sample_rate) for seconds in (LEAD, TAIL))
    return slice(max(0, int(heard[0]) - before), min(len(samples), int(heard[-1]) + 1 + after))


def levelled(samples: Floats) -> Floats:
    """Return a sentence at the usual level, or less if its peaks would clip."""
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
