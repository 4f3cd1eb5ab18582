"""PCM: mono sound as raw 16-bit little-endian samples, as every engine makes it, and as a WAV file."""

import io
import wave
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import IO

import numpy as np

#: Bytes of one sample.
SAMPLE_BYTES = 2


@dataclass(frozen=True, slots=True)
class Pcm:
    """Sound: `samples` (16 bit, little-endian, mono) at `sample_rate` hertz."""

    samples: bytes | bytearray
    sample_rate: int

    @property
    def duration(self) -> timedelta:
        """The length of the sound."""
        return timedelta(seconds=len(self.samples) / SAMPLE_BYTES / self.sample_rate)


def silence(duration: timedelta, sample_rate: int) -> Iterator[bytes]:
    """Yield the samples of a silence, a second at a time."""
    samples = round(duration.total_seconds() * sample_rate)
    for start in range(0, samples, sample_rate):
        yield bytes(min(sample_rate, samples - start) * SAMPLE_BYTES)


def audible(sound: Pcm) -> tuple[int, int]:
    """Return the first audible sample and the one after the last; (0, 0) for silence.

    Audible is louder than a hundredth of the peak, in steps of 5 ms, with a step before and after."""
    samples = np.frombuffer(sound.samples, "<i2")
    step = max(1, sound.sample_rate // 200)
    peaks = np.abs(np.pad(samples, (0, -samples.size % step)).astype(np.int32)).reshape(-1, step).max(axis=1)
    heard = np.flatnonzero(peaks > peaks.max(initial=0) / 100)
    if not heard.size:
        return 0, 0
    return max(0, int(heard[0] - 1) * step), min(samples.size, int(heard[-1] + 2) * step)


def write_wav(file: IO[bytes], sample_rate: int, blocks: Iterable[bytes | bytearray]) -> None:
    """Write samples into a file as WAV (PCM, 16 bit, mono); its header has the exact length."""
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(SAMPLE_BYTES)
        writer.setframerate(sample_rate)
        for block in blocks:
            writer.writeframesraw(block)


def encode_wav(sound: Pcm) -> bytes:
    """Return a sound as a WAV file."""
    file = io.BytesIO()
    write_wav(file, sound.sample_rate, [sound.samples])
    return file.getvalue()
