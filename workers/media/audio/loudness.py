"""Loudness by ITU-R BS.1770-5, and the gain that brings a sound to another loudness.

A sound is measured once, in steps of a millisecond; any gain and limiter can then be tried without its samples. For 19
minutes of speech, ffmpeg's libebur128 with true peaks takes 2.5 times as long, for one number."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workers.media.audio.gain import Levels, step_length
from workers.media.audio.track import Samples, Track

Response = NDArray[np.complex128]
#: The loudness of all speech made here, in LUFS, as is usual for podcasts.
TARGET = -16.0
#: The most that a quiet sound is raised, in decibels; beyond is only noise.
MAX_GAIN = 40.0
#: BS.1770-5, annex 1: blocks of 400 ms, one every 100 ms; the thresholds in LUFS and LU under which blocks don't count;
#: and the constant that puts a full-scale sine of 1 kHz at -3.01.
HOP_SECONDS = 0.1
HOPS_PER_BLOCK = 4
ABSOLUTE_GATE = -70.0
RELATIVE_GATE = -10.0
OFFSET = -0.691

SILENCE = float("-inf")
#: Samples transformed at once.
WINDOW = 2**14
#: Cut off at the start of each window: the seconds in which the filters' echo fades by 100 dB. At its end: the samples
#: that the interpolation needs.
ECHO = 0.05
EDGE = 128
#: True peaks are measured at four times the rate of speech (BS.1770-5, annex 2), or twice that of music.
OVERSAMPLED_RATE = 80_000
#: The two filters of K-weighting as centre in hertz, gain in decibels and quality, from which their coefficients follow
#: at any sample rate (BS.1770-5 lists those for 48 kHz; De Man, "Evaluation of implementations of EBU R128", 2018).
SHELF = (1681.974450955533, 3.999843853973347, 0.7071752369554196)
HIGH_PASS = (38.13547087602444, 0.5003270373238773)


@dataclass(frozen=True, slots=True)
class Profile:
    """The mean square after K-weighting and the true peak of each step of a sound; full scale is 1."""

    sample_rate: int
    powers: Levels
    peaks: Levels

    @property
    def step_seconds(self) -> float:
        """The length of a step."""
        return step_length(self.sample_rate) / self.sample_rate


class Meter:
    """Measures a track, also while it grows, reading each sample once."""

    def __init__(self, track: Track) -> None:
        self._track = track
        rate = track.sample_rate
        self._step = step_length(rate)
        self._window = WINDOW * (1 if rate <= OVERSAMPLED_RATE // 2 else 2)
        self._before = round(ECHO * rate)
        self._length = max(1, (self._window - self._before - EDGE) // self._step) * self._step
        self._weights = _k_weighting(rate, self._window)
        finer = 4 if rate * 2 < OVERSAMPLED_RATE else 2
        turn = 2j * np.pi / finer * np.fft.rfftfreq(self._window)
        self._shifts = [np.exp(part * turn).astype(np.complex64) for part in range(1, finer)]
        self._at = 0
        self._powers, self._peaks = [np.zeros(0, np.float32)], [np.zeros(0, np.float32)]

    def advance(self) -> None:
        """Measure all but the last window."""
        self._measure(len(self._track) - self._window + self._before)

    def finish(self) -> Profile:
        """Measure the rest of the track, and return its profile."""
        self._measure(len(self._track))
        steps = -(-len(self._track) // self._step)
        parts = (self._powers, self._peaks)
        return Profile(self._track.sample_rate, *(np.concatenate(part).astype(np.float32)[:steps] for part in parts))

    def _measure(self, stop: int) -> None:
        while self._at < stop:
            self._measure_window(self._track.read(self._at - self._before, self._window))
            self._at += self._length

    def _measure_window(self, samples: Samples) -> None:
        inner = slice(self._before, self._before + self._length)
        sound = samples.astype(np.float32) / np.float32(32_768)
        spectrum = np.fft.rfft(sound)
        weighted = np.fft.irfft(spectrum * self._weights, self._window)[inner].reshape(-1, self._step)
        self._powers.append(np.einsum("ij,ij->i", weighted, weighted) / np.float32(self._step))
        # The curve between the samples too. One transform to a higher rate would take half as long again.
        peaks = np.abs(sound)
        for shift in self._shifts:
            np.maximum(peaks, np.abs(np.fft.irfft(spectrum * shift, self._window)), out=peaks)
        self._peaks.append(peaks[inner].reshape(-1, self._step).max(axis=1))


class MeasuredTrack(Track):
    """A track that a thread measures while it grows. Measuring 20 minutes of speech at the end would take 0.8 s."""

    def __init__(self, sample_rate: int) -> None:
        super().__init__(sample_rate)
        self._meter = Meter(self)
        self._thread = ThreadPoolExecutor(1, "loudness")
        self._measuring: Future[None] | None = None

    def append(self, samples: bytes | bytearray | memoryview) -> None:
        super().append(samples)
        if self._measuring is None or self._measuring.done():
            self._measuring = self._thread.submit(self._meter.advance)

    def measured(self) -> Profile:
        """Return the profile of the whole track; nothing may be appended afterwards."""
        if self._measuring is not None:
            self._measuring.result()
        return self._meter.finish()

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)
        super().close()


def profile(track: Track) -> Profile:
    """Measure a sound."""
    return Meter(track).finish()


def loudness(measured: Profile, levels: Levels | None = None) -> float:
    """Return the integrated loudness in LUFS, with a gain for each step if `levels` are given; silence is -inf.

    Sounds under 400 ms count as one block."""
    powers = measured.powers if levels is None else measured.powers * levels * levels
    blocks = _block_powers(powers, max(1, round(HOP_SECONDS / measured.step_seconds)))
    audible = blocks[blocks > 10 ** ((ABSOLUTE_GATE - OFFSET) / 10)]
    if not audible.size:
        return SILENCE
    gate = audible.mean() * 10 ** (RELATIVE_GATE / 10)
    return OFFSET + 10 * float(np.log10(float(audible[audible > gate].mean())))


def gain_to(measured: Profile, target: float = TARGET) -> float:
    """Return the gain in decibels from a sound's loudness to `target`; 0 for silence."""
    current = loudness(measured)
    return min(target - current, MAX_GAIN) if current > SILENCE else 0.0


def _block_powers(powers: Levels, hop: int) -> NDArray[np.float64]:
    """Return the mean powers of overlapping blocks."""
    hops = powers[: powers.size // hop * hop].reshape(-1, hop).mean(axis=1, dtype=np.float64)
    if hops.size < HOPS_PER_BLOCK:
        return np.array([powers.mean(dtype=np.float64)]) if powers.size else np.zeros(0)
    blocks: NDArray[np.float64] = np.lib.stride_tricks.sliding_window_view(hops, HOPS_PER_BLOCK).mean(axis=1)
    return blocks


def _k_weighting(rate: int, window: int) -> NDArray[np.complex64]:
    """Return the response of the two filters at the frequencies of a window's spectrum."""
    z: Response = np.exp(-1j * 2 * np.pi * np.fft.rfftfreq(window))
    return (_shelf(z, rate) * _high_pass(z, rate)).astype(np.complex64)


def _shelf(z: Response, rate: int) -> Response:
    centre, gain, quality = SHELF
    k, high = np.tan(np.pi * centre / rate), 10 ** (gain / 20)
    middle = high**0.4996667741545416
    zeros = (high + middle * k / quality + k * k, 2 * (k * k - high), high - middle * k / quality + k * k)
    response: Response = (zeros[0] + zeros[1] * z + zeros[2] * z * z) / _poles(z, k, quality)
    return response


def _high_pass(z: Response, rate: int) -> Response:
    centre, quality = HIGH_PASS
    k = np.tan(np.pi * centre / rate)
    # Normalised by the first coefficient of the poles alone, as the standard's own coefficients are.
    response: Response = (1 - z) ** 2 * (1 + k / quality + k * k) / _poles(z, k, quality)
    return response


def _poles(z: Response, k: float, quality: float) -> Response:
    return (1 + k / quality + k * k) + 2 * (k * k - 1) * z + (1 - k / quality + k * k) * z * z
