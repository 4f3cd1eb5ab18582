"""PCM: mono sound as raw 16-bit little-endian samples, which every engine makes and every encoder takes."""

from dataclasses import dataclass
from datetime import timedelta

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
