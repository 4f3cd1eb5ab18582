"""Sound: measurements of samples, for tests of audio."""

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np
from numpy.typing import NDArray

from workers.media.audio.pcm import Pcm

Floats = NDArray[np.float64]

#: How far from the pitch that is looked for a voice may go, in semitones.
SPAN = 5.0


def samples_of(sound: Pcm) -> Floats:
    """Return the samples as floats, full scale at ±1."""
    return np.frombuffer(sound.samples, "<i2").astype(np.float64) / 32_767


def level_db(samples: Floats) -> float:
    """Return the root of the mean square, in decibels below full scale."""
    return 20 * float(np.log10(np.sqrt(np.mean(samples**2)) + 1e-12))


def peak_db(samples: Floats) -> float:
    """Return the largest sample, in decibels below full scale."""
    return 20 * float(np.log10(np.abs(samples).max() + 1e-12))


def true_peak_db(samples: Floats) -> float:
    """Return the largest value of the curve through the samples, found at four times their rate."""
    spectrum = np.fft.rfft(samples)
    finer = np.fft.irfft(np.concatenate([spectrum, np.zeros(3 * len(samples) // 2)]), 4 * len(samples)) * 4
    return peak_db(finer)


def pitches(sound: Pcm, near: float) -> tuple[Floats, Floats]:
    """Return times in seconds and the voice's pitch in hertz there (NaN: no voice), by normalised autocorrelation.

    It is looked for within SPAN semitones of `near`, in windows of about four periods.
    """
    samples, rate = samples_of(sound), sound.sample_rate
    shortest, longest = int(rate / near / 2 ** (SPAN / 12)), int(rate / near * 2 ** (SPAN / 12)) + 1
    window = max(2 * int(rate / near), longest)
    starts = range(0, len(samples) - window - longest, rate // 50)
    found = [_pitch(samples[start : start + window + longest], window, shortest, longest, rate) for start in starts]
    return (np.array(starts) + (window + longest) / 2) / rate, np.array(found)


def shift_in_semitones(original: Pcm, shifted: Pcm, *, voice_hertz: float, expected: float) -> float:
    """Return how much higher the second is than the first, as the median over the moments where both are voiced."""
    near = voice_hertz * 2 ** (expected / 12)
    first_times, first = pitches(original, voice_hertz)
    times, second = pitches(shifted, near)
    # The median of each sound alone is biased: the longer windows of a lower voice lose the moments that glide.
    stretch, reach = original.duration / shifted.duration, max(0.012, 2 / near)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # moments without voice have no median
        there = np.array([np.nanmedian(first[np.abs(first_times - time * stretch) < reach]) for time in times])
        return float(np.nanmedian(12 * np.log2(second / there)))


def _pitch(piece: Floats, window: int, shortest: int, longest: int, rate: int) -> float:
    piece = piece - piece.mean()
    if np.mean(piece**2) < 1e-4:
        return np.nan
    head, size = piece[:window], 1 << (len(piece) + window).bit_length()
    products = np.fft.irfft(np.fft.rfft(piece, size) * np.conj(np.fft.rfft(head, size)), size)[shortest:longest]
    energy = np.concatenate([[0.0], np.cumsum(piece**2)])
    energies = energy[shortest + window : longest + window] - energy[shortest:longest]
    likeness = products / np.sqrt(energies * (head @ head) + 1e-12)
    best = int(likeness.argmax())
    if not 0 < best < len(likeness) - 1 or likeness[best] < 0.5:
        return np.nan
    left, middle, right = likeness[best - 1 : best + 2]
    return float(rate / (shortest + best + (right - left) / 2 / (2 * middle - right - left + 1e-12)))


@contextmanager
def file_of(content: bytes) -> Iterator[IO[bytes]]:
    """Yield an unnamed file, at its start."""
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        yield file


def integrated_loudness(samples: Floats, rate: int, **options: str) -> float:
    """Return LUFS as somebody else's meter has it. Its import takes a second."""
    from pyloudnorm import Meter

    return float(Meter(rate, **options).integrated_loudness(samples))
