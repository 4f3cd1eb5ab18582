"""WAV: raw samples with a header that says what they are."""

import io
import wave
from datetime import timedelta
from typing import IO

from workers.media.audio.pcm import SAMPLE_BYTES, Pcm

CONTENT_TYPE = "audio/wav"


def encode_wav(sound: Pcm) -> bytes:
    """Return a WAV file (PCM, 16 bit, mono) whose header has the real length."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(SAMPLE_BYTES)
        writer.setframerate(sound.sample_rate)
        writer.setnframes(len(sound.samples) // SAMPLE_BYTES)
        writer.writeframesraw(sound.samples)
    return file.getvalue()


class WavWriter:
    """Writes sounds of one sample rate into a WAV file, as they come."""

    def __init__(self, file: IO[bytes], sample_rate: int) -> None:
        self._writer = wave.open(file, "wb")  # noqa: SIM115  `close` ends it
        self._writer.setnchannels(1)
        self._writer.setsampwidth(SAMPLE_BYTES)
        self._writer.setframerate(sample_rate)
        self._sample_rate = sample_rate

    def write(self, sound: Pcm) -> None:
        """Put a sound at the end. Raises ValueError for another sample rate."""
        if sound.sample_rate != self._sample_rate:
            raise ValueError(f"A sound of {sound.sample_rate} Hz does not fit a file of {self._sample_rate} Hz.")
        self._writer.writeframesraw(sound.samples)

    def close(self) -> timedelta:
        """Write the length into the header; returns it."""
        frames = self._writer.tell()
        self._writer.close()
        return timedelta(seconds=frames / self._sample_rate)
