"""WAV: raw samples with a header that says what they are."""

import io
import wave

from workers.audio.pcm import SAMPLE_BYTES, Pcm

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
