"""MP3: one continuous file from one encoder. Files that are encoded apart and joined have a gap at each seam."""

import os
import select
import subprocess
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import IO

from workers.engines import Stopped, never
from workers.media.audio.ffmpeg import Ffmpeg, FfmpegFailed, pcm_input

#: Most time for one MP3: an hour of sound takes half a minute.
TIME_LIMIT = timedelta(minutes=30)

#: A stream's pieces go to the sink when they have so many bytes, or after so long. ffmpeg writes single frames (26 ms,
#: 418 bytes), and each piece costs the sink a file and a message.
PIECE_BYTES = 16_384
HOLD_BACK = timedelta(milliseconds=20)


@dataclass(frozen=True, slots=True)
class Mp3Format:
    """A constant bit rate and a sample rate. Below 32 kHz there is no 192k; the encoder then takes less.

    `reservoir`: a frame may use what earlier ones left of their bits, and so depends on them."""

    bit_rate: int
    sample_rate: int = 44_100
    reservoir: bool = True

    def arguments(self) -> list[str]:
        """Return the encoder's options for ffmpeg."""
        rates = ["-b:a", str(self.bit_rate), "-ar", str(self.sample_rate)]
        # Level 7 takes 45 % less time than the default. It uses no model of hearing, and at these rates its noise is no
        # louder in any band, for speech and for music.
        encoder = ["-c:a", "libmp3lame", "-compression_level", "7", "-reservoir", str(int(self.reservoir))]
        return [*encoder, *rates, "-map_metadata", "-1", "-id3v2_version", "0"]


#: Chapters and music (192k), and streams (128k). At 192k a reservoir gains nothing for one channel, and parts of a long
#: file can be encoded at the same time without it (mp3_parts.py).
CHAPTER = Mp3Format(192_000, reservoir=False)
STREAM = Mp3Format(128_000)


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


class Mp3Stream(AbstractContextManager["Mp3Stream"]):
    """An encoder that calls `sink` with MP3 bytes as soon as there are some, in order, from a thread of its own.

    Leaving its `with` block ends it at once: call `finish` before, or the last bytes are lost.
    """

    def __init__(
        self, ffmpeg: Ffmpeg, *, sample_rate: int, sink: Callable[[bytes], None], form: Mp3Format = STREAM
    ) -> None:
        arguments = [*pcm_input(sample_rate), *form.arguments(), "-write_xing", "0", "-flush_packets", "1"]
        self._run = ffmpeg.start(
            [*arguments, "-f", "mp3", "pipe:1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            time_limit=TIME_LIMIT,
        )
        self._sink = sink
        self._reader = ThreadPoolExecutor(1, "mp3 stream")
        self._read_all = self._reader.submit(self._read)
        # After the sink has failed nobody reads the output: without this, `write` would wait for ever.
        self._read_all.add_done_callback(self._end_if_failed)

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, samples: bytes) -> None:
        """Send sound to the encoder; waits until it has read it. Raises FfmpegFailed, and whatever the sink raised."""
        try:
            self._run.write(samples)
        except FfmpegFailed:
            self._read_all.result()
            raise

    def finish(self) -> None:
        """Wait until the sink has everything. Raises FfmpegFailed, and whatever the sink raised."""
        self._run.end_input()
        self._read_all.result()
        self._run.check()

    def close(self) -> None:
        """End the encoder; the sink is called no more."""
        self._run.kill()
        self._reader.shutdown()
        self._run.close()

    def _read(self) -> None:
        pipe = self._run.output.fileno()
        # The first frame goes out alone, since a listener waits for it.
        piece = os.read(pipe, PIECE_BYTES)
        while piece:
            self._sink(piece)
            piece = _next_piece(pipe)

    def _end_if_failed(self, read_all: "Future[None]") -> None:
        if read_all.exception() is not None:
            self._run.kill()


def _next_piece(pipe: int) -> bytes:
    """Return the next piece; empty at the end."""
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    piece = os.read(pipe, PIECE_BYTES)
    while piece and len(piece) < PIECE_BYTES and ready.poll(HOLD_BACK.total_seconds() * 1_000):
        more = os.read(pipe, PIECE_BYTES - len(piece))
        if not more:
            break
        piece += more
    return piece
