"""Encodings: chapters as MP3, and ffmpeg's options for each format in which speech is streamed.

A file comes from one encoder: files that are encoded apart and joined have a gap at each seam."""

import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import IO

from pipeline.audio_formats import STREAMED_PCM_RATE, AudioFormat
from workers.engines import Stopped, never
from workers.media.audio.ffmpeg import Ffmpeg, pcm_input

#: Most time for one MP3: an hour of sound takes half a minute.
TIME_LIMIT = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Mp3Format:
    """A constant bit rate, a sample rate, and channels of the same sound.

    Below 32 kHz there is no 192k, and of other rates the encoder takes the nearest that MP3 has.

    `reservoir`: a frame may use what earlier ones left of their bits, and so depends on them."""

    bit_rate: int
    sample_rate: int = 44_100
    reservoir: bool = True
    channels: int = 1

    def arguments(self) -> list[str]:
        """Return the encoder's options for ffmpeg."""
        rates = ["-b:a", str(self.bit_rate), "-ar", str(self.sample_rate), "-ac", str(self.channels)]
        # Level 7 takes 45 % less time than the default. It uses no model of hearing, and at these rates its noise is no
        # louder in any band, for speech and for music.
        encoder = ["-c:a", "libmp3lame", "-compression_level", "7", "-reservoir", str(int(self.reservoir))]
        return [*encoder, *rates, "-map_metadata", "-1", "-id3v2_version", "0"]


#: Chapters and music (192k), and streams (128k). At 192k a reservoir gains nothing for one channel, and parts of a long
#: file can be encoded at the same time without it (mp3_parts.py).
CHAPTER = Mp3Format(192_000, reservoir=False)
STREAM = Mp3Format(128_000)

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


def encode_into(
    file: IO[bytes],
    ffmpeg: Ffmpeg,
    blocks: Iterable[bytes],
    *,
    sample_rate: int,
    form: Mp3Format = CHAPTER,
    stop: Callable[[], bool] = never,
) -> None:
    """Write an MP3 of the samples into an empty file; its header has the exact length. Raises FfmpegFailed, Stopped."""
    # Into a file and not a pipe, so that ffmpeg can go back and write the length into the header.
    arguments = [*pcm_input(sample_rate), *form.arguments(), "-f", "mp3", "fd:"]
    with ffmpeg.start(arguments, stdin=subprocess.PIPE, stdout=file, time_limit=TIME_LIMIT) as run:
        for block in blocks:
            if stop():
                raise Stopped
            run.write(block)
        run.check()
    file.seek(0)
