"""PCM: mono sound as raw 16-bit little-endian samples, which every engine makes, and as a WAV file."""

import io
import wave
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
        """How long the sound lasts."""
        return timedelta(seconds=len(self.samples) / SAMPLE_BYTES / self.sample_rate)


class WavWriter:
    """Writes sounds of one sample rate into a WAV file (PCM, 16 bit, mono), one after another."""

    def __init__(self, file: IO[bytes], sample_rate: int) -> None:
        self._writer = wave.open(file, "wb")  # noqa: SIM115  `close` ends it
        self._writer.setnchannels(1)
        self._writer.setsampwidth(SAMPLE_BYTES)
        self._writer.setframerate(sample_rate)
        self._sample_rate = sample_rate

    def write(self, sound: Pcm) -> None:
        """Append a sound. Raises ValueError for another sample rate."""
        if sound.sample_rate != self._sample_rate:
            raise ValueError(f"A sound of {sound.sample_rate} Hz does not fit a file of {self._sample_rate} Hz.")
        self._writer.writeframesraw(sound.samples)

    def close(self) -> timedelta:
        """Write the length into the header, and return it."""
        frames = self._writer.tell()
        self._writer.close()
        return timedelta(seconds=frames / self._sample_rate)


def encode_wav(sound: Pcm) -> bytes:
    """Return a sound as a WAV file."""
    file = io.BytesIO()
    writer = WavWriter(file, sound.sample_rate)
    writer.write(sound)
    writer.close()
    return file.getvalue()
