"""Metering: how loud a sound is heard, and how high the curve through its samples goes, millisecond by millisecond.

With both on that grid, any gain and limiter can be tried without touching the samples again. In 19 minutes of speech,
libebur128 (ffmpeg's) with true peaks takes 2.5 times as long, for one number each.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workers.media.audio.limiter import Levels, step_length
from workers.media.audio.track import Track

#: Samples transformed at once.
WINDOW = 2**14

#: Seconds by which the filters' echo fades by 100 dB, cut off in front of each window, and samples behind it that the
#: interpolation needs.
ECHO = 0.05
EDGE = 128

#: True peaks are looked for at four times the rate of speech (BS.1770-5, annex 2), or twice that of music.
OVERSAMPLED_RATE = 80_000

#: The two filters of K-weighting as centre in hertz, gain in decibels and quality, from which their coefficients follow
#: at any sample rate (BS.1770-5 lists those for 48 kHz; De Man, "Evaluation of implementations of EBU R128", 2018).
SHELF = (1681.974450955533, 3.999843853973347, 0.7071752369554196)
HIGH_PASS = (38.13547087602444, 0.5003270373238773)


@dataclass(frozen=True, slots=True)
class Profile:
    """For each step of a sound: the mean square as the ear weighs it, and the true peak; full scale is 1."""

    sample_rate: int
    powers: Levels
    peaks: Levels

    @property
    def step_seconds(self) -> float:
        """How long a step lasts."""
        return step_length(self.sample_rate) / self.sample_rate


def profile(track: Track) -> Profile:
    """Measure a sound."""
    rate, step = track.sample_rate, step_length(track.sample_rate)
    window = WINDOW * (1 if rate <= OVERSAMPLED_RATE // 2 else 2)
    before = round(ECHO * rate)
    step_count = max(1, (window - before - EDGE) // step)
    length = step_count * step
    weights = _k_weighting(rate, window)
    finer = 4 if rate * 2 < OVERSAMPLED_RATE else 2
    powers, peaks = [], []
    for start in range(0, len(track), length):
        spectrum = np.fft.rfft(track.read(start - before, window).astype(np.float32) / np.float32(32_768))
        weighted = np.fft.irfft(spectrum * weights, window)[before : before + length].reshape(-1, step)
        powers.append(np.einsum("ij,ij->i", weighted, weighted) / np.float32(step))
        curve = np.fft.irfft(_padded(spectrum, finer), window * finer)[before * finer : (before + length) * finer]
        peaks.append(np.abs(curve).reshape(-1, step * finer).max(axis=1) * np.float32(finer))
    steps = -(-len(track) // step)
    return Profile(rate, _joined(powers)[:steps], _joined(peaks)[:steps])


def _k_weighting(rate: int, window: int) -> NDArray[np.complex64]:
    """Return the response of the two filters at the frequencies of a window's spectrum."""
    z = np.exp(-1j * 2 * np.pi * np.fft.rfftfreq(window))
    return (_shelf(z, rate) * _high_pass(z, rate)).astype(np.complex64)


def _shelf(z: NDArray[np.complex128], rate: int) -> NDArray[np.complex128]:
    centre, gain, quality = SHELF
    k, high = np.tan(np.pi * centre / rate), 10 ** (gain / 20)
    middle = high**0.4996667741545416
    zeros = (high + middle * k / quality + k * k, 2 * (k * k - high), high - middle * k / quality + k * k)
    numerator = zeros[0] + zeros[1] * z + zeros[2] * z * z
    response: NDArray[np.complex128] = numerator / _poles(z, k, quality)
    return response


def _high_pass(z: NDArray[np.complex128], rate: int) -> NDArray[np.complex128]:
    centre, quality = HIGH_PASS
    k = np.tan(np.pi * centre / rate)
    # Normalised by its poles' first coefficient but for its zeros, as the standard's own coefficients are.
    response: NDArray[np.complex128] = (1 - z) ** 2 * (1 + k / quality + k * k) / _poles(z, k, quality)
    return response


def _poles(z: NDArray[np.complex128], k: float, quality: float) -> NDArray[np.complex128]:
    return (1 + k / quality + k * k) + 2 * (k * k - 1) * z + (1 - k / quality + k * k) * z * z


def _padded(spectrum: NDArray[np.complexfloating], finer: int) -> NDArray[np.complex64]:
    """Return the spectrum of the same curve at `finer` times the rate."""
    padded = np.zeros((spectrum.size - 1) * finer + 1, np.complex64)
    padded[: spectrum.size - 1] = spectrum[:-1]
    return padded


def _joined(parts: list[NDArray[np.float32]]) -> Levels:
    return np.concatenate(parts).astype(np.float32) if parts else np.zeros(0, np.float32)
