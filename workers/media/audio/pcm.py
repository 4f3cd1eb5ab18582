"""PCM: mono sound as raw 16-bit little-endian samples, as every engine makes it, and as a WAV file."""

import io
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import IO

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
    samples = memoryview(sound.samples).cast("h")
    step = max(1, sound.sample_rate // 200)
    # A sixteenth of the samples tells the peak of speech; all would take 0.1 s per minute.
    least = _peak(samples[:: max(1, step // 16)]) / 100

    def is_heard(start: int) -> bool:
        return _peak(samples[start : start + step]) > least

    starts = range(0, len(samples), step)
    first = next(filter(is_heard, starts), None)
    if first is None:
        return 0, 0
    last = next(filter(is_heard, reversed(starts)))
    return max(0, first - step), min(len(samples), last + 2 * step)


def _peak(samples: "memoryview[int]") -> int:
    return max(max(samples), -min(samples)) if len(samples) else 0


class WavWriter:
    """Writes sounds of one sample rate into a WAV file (PCM, 16 bit, mono), one after another."""

    def __init__(self, file: IO[bytes], sample_rate: int) -> None:
        self._writer = wave.open(file, "wb")  # noqa: SIM115  `close` ends it
        self._writer.setnchannels(1)
        self._writer.setsampwidth(SAMPLE_BYTES)
        self._writer.setframerate(sample_rate)
        self._sample_rate = sample_rate

    @property
    def duration(self) -> timedelta:
        """The length of the sound so far."""
        return timedelta(seconds=self._writer.tell() / self._sample_rate)

    def write(self, sound: Pcm) -> None:
        """Append a sound. Raises ValueError for another sample rate."""
        if sound.sample_rate != self._sample_rate:
            raise ValueError(f"A sound of {sound.sample_rate} Hz does not fit a file of {self._sample_rate} Hz.")
        self._writer.writeframesraw(sound.samples)

    def close(self) -> timedelta:
        """Write the length into the header, and return it."""
        duration = self.duration
        self._writer.close()
        return duration


def encode_wav(sound: Pcm) -> bytes:
    """Return a sound as a WAV file."""
    file = io.BytesIO()
    writer = WavWriter(file, sound.sample_rate)
    writer.write(sound)
    writer.close()
    return file.getvalue()
