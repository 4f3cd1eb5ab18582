"""Encoded stream: an encoder that hands on bytes while sound is written to it."""

import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import timedelta

from workers.media.audio.encoding.encodings import MP3
from workers.media.audio.ffmpeg import Ffmpeg, FfmpegFailed, pcm_input

#: The encoder lives while its sound is made, which takes a slow voice an hour.
TIME_LIMIT = timedelta(hours=24)
#: Most bytes of a piece; ffmpeg writes single frames (26 ms, 418 bytes of MP3).
PIECE_BYTES = 16_384


class EncodedStream(AbstractContextManager["EncodedStream"]):
    """An encoder that calls `sink` with encoded bytes in order, as soon as there are some, from its own thread.

    Leaving its `with` block ends it at once: call `finish` before, or the last bytes are lost."""

    def __init__(
        self, ffmpeg: Ffmpeg, *, sample_rate: int, sink: Callable[[bytes], None], encoding: Sequence[str] = MP3
    ) -> None:
        """`encoding`: the options of encoder and container, as in encodings.py."""
        self._run = ffmpeg.start(
            [*pcm_input(sample_rate), *encoding, "-flush_packets", "1", "pipe:1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            time_limit=TIME_LIMIT,
        )
        self._sink = sink
        self._reader = ThreadPoolExecutor(1, "encoded stream")
        self._read_all = self._reader.submit(self._read)
        # Else `write` would wait for ever if the sink fails, since nobody reads the output.
        self._read_all.add_done_callback(self._end_if_failed)

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, samples: bytes) -> None:
        """Send sound to the encoder, and wait until it is read. Raises FfmpegFailed, and what the sink raised."""
        try:
            self._run.write(samples)
        except FfmpegFailed:
            self._read_all.result()
            raise

    def finish(self) -> None:
        """Wait until the sink has everything. Raises FfmpegFailed, and what the sink raised."""
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
        while piece := os.read(pipe, PIECE_BYTES):
            self._sink(piece)

    def _end_if_failed(self, read_all: "Future[None]") -> None:
        if read_all.exception() is not None:
            self._run.kill()
