"""Audio formats: in which speech can be streamed, and what they are called."""

from collections.abc import Mapping
from typing import Literal, get_args

AudioFormat = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]
AUDIO_FORMATS: tuple[AudioFormat, ...] = get_args(AudioFormat)

#: Hertz of raw samples, which no header tells: 16 bit, little-endian, mono, as OpenAI's API has them.
STREAMED_PCM_RATE = 24_000

CONTENT_TYPES: Mapping[AudioFormat, str] = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg; codecs=opus",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": f"audio/pcm; rate={STREAMED_PCM_RATE}",
}
#: The same without what they say of the encoding.
MEDIA_TYPES: Mapping[AudioFormat, str] = {name: told.partition(";")[0] for name, told in CONTENT_TYPES.items()}
