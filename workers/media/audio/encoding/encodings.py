"""Encodings: ffmpeg's options for each format in which speech is streamed, encoder and container."""

from collections.abc import Mapping, Sequence

from pipeline.audio_formats import STREAMED_PCM_RATE, AudioFormat
from workers.media.audio.encoding.mp3 import STREAM, Mp3Format

#: Nothing in a file says what made it, or when.
_PLAIN = ("-map_metadata", "-1", "-bitexact")
#: Bits a second of Opus and AAC: mono speech gains nothing by more (RFC 6716, section 2.1.1, names 40k for full band).
_OPUS_RATE, _AAC_RATE = "64k", "96k"


def mp3_stream(form: Mp3Format) -> Sequence[str]:
    """Return the options of an MP3 that begins without a frame of its length, which nobody knows yet."""
    return (*form.arguments(), "-write_xing", "0", "-f", "mp3")


MP3: Sequence[str] = mp3_stream(STREAM)

ENCODINGS: Mapping[AudioFormat, Sequence[str]] = {
    "mp3": MP3,
    # A page each fifth of a second: by default the first one comes after a whole second of sound.
    "opus": ("-c:a", "libopus", "-b:a", _OPUS_RATE, "-ar", "48000", *_PLAIN, "-page_duration", "200000", "-f", "ogg"),
    "aac": ("-c:a", "aac", "-b:a", _AAC_RATE, "-ar", "44100", *_PLAIN, "-f", "adts"),
    "flac": ("-c:a", "flac", "-sample_fmt", "s16", *_PLAIN, "-f", "flac"),
    # The length in its header is the longest that there can be: whoever reads it goes on to the end.
    "wav": ("-c:a", "pcm_s16le", *_PLAIN, "-f", "wav"),
    "pcm": ("-c:a", "pcm_s16le", "-ar", str(STREAMED_PCM_RATE), "-f", "s16le"),
}
