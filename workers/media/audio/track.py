"""Track: sound of any length in an unnamed temporary file, so that an hour takes no memory."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import timedelta
from typing import IO, Self

import numpy as np
from numpy.typing import NDArray

from workers.media.audio.ffmpeg import Ffmpeg, pcm_input
from workers.media.audio.pcm import SAMPLE_BYTES, Pcm

Samples = NDArray[np.int16]
#: Samples read at once: 6 s at 44.1 kHz.
BLOCK = 2**18
#: Time limit for resampling a track.
RESAMPLING_LIMIT = timedelta(minutes=5)
#: The length of a pause where a track may be cut, as between two sentences.
PAUSE_SECONDS = 0.4
#: The last part of a window in which a pause is searched, and its longest.
SEARCHED_SHARE = 0.5
MAX_SEARCHED = timedelta(seconds=30)


class Track(AbstractContextManager["Track"]):
    """Mono 16-bit samples at `sample_rate` hertz; leaving its `with` block deletes them."""

    def __init__(self, sample_rate: int) -> None:
        self.sample_rate = sample_rate
        #: True if the file that it was decoded from ends before its header says.
        self.is_cut_short = False
        #: The length that the header of that file tells, if any.
        self.declared: timedelta | None = None
        self.file: IO[bytes] = tempfile.TemporaryFile(prefix="pressroom-", buffering=0)  # noqa: SIM115  closed by close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return os.fstat(self.file.fileno()).st_size // SAMPLE_BYTES

    @property
    def duration(self) -> timedelta:
        """The length of the sound."""
        return timedelta(seconds=len(self) / self.sample_rate)

    def append(self, samples: bytes | bytearray | memoryview) -> None:
        """Append samples (16 bit, little-endian)."""
        view = memoryview(samples)
        while view:
            view = view[self.file.write(view) :]

    def append_sound(self, sound: Pcm) -> None:
        """Append a sound. Raises ValueError for another sample rate."""
        if sound.sample_rate != self.sample_rate:
            raise ValueError(f"A sound of {sound.sample_rate} Hz does not fit a track of {self.sample_rate} Hz.")
        self.append(sound.samples)

    def append_silence(self, duration: timedelta) -> None:
        """Append silence."""
        size = os.fstat(self.file.fileno()).st_size + round(duration.total_seconds() * self.sample_rate) * SAMPLE_BYTES
        self.file.truncate(size)
        self.file.seek(size)

    def read(self, start: int, count: int) -> Samples:
        """Return `count` samples from `start` on, with silence before the first and after the last."""
        first = max(start, 0)
        wanted = max(0, start + count - first)
        found = np.frombuffer(os.pread(self.file.fileno(), wanted * SAMPLE_BYTES, first * SAMPLE_BYTES), "<i2")
        before = min(first - start, count)
        return found if len(found) == count else np.pad(found, (before, count - before - len(found)))

    def resampled(self, ffmpeg: Ffmpeg, sample_rate: int) -> "Track":
        """Return the same sound at another rate. Raises FfmpegFailed."""
        self.file.seek(0)
        arguments = [*pcm_input(self.sample_rate), "-ar", str(sample_rate), "-f", "s16le", "fd:"]
        with (
            new_track(sample_rate) as resampled,
            ffmpeg.start(arguments, stdin=self.file, stdout=resampled.file, time_limit=RESAMPLING_LIMIT) as run,
        ):
            run.check()
        return resampled

    def close(self) -> None:
        """Delete the sound."""
        self.file.close()


@contextmanager
def new_track(sample_rate: int) -> Iterator[Track]:
    """Yield a track to fill. It is deleted if the block raises; else the caller closes it."""
    with ExitStack() as undone:
        yield undone.enter_context(Track(sample_rate))
        undone.pop_all()


def windows(track: Track, *, length: timedelta, start: int = 0) -> Iterator[range]:
    """Yield windows of at most `length` from `start` on. Each ends where it is quietest, hardly ever within a word."""
    longest = round(length.total_seconds() * track.sample_rate)
    searched = round(min(MAX_SEARCHED, length * SEARCHED_SHARE).total_seconds() * track.sample_rate)
    while start < len(track):
        stop = min(start + longest, len(track))
        if stop < len(track):
            stop += quietest(track.read(stop - searched, searched), track.sample_rate) - searched
        yield range(start, stop)
        start = stop


def quietest(samples: Samples, sample_rate: int) -> int:
    """Return the sample in the middle of the quietest pause, the last of several."""
    block = sample_rate // 100
    count = len(samples) // block
    blocks = samples[: count * block].reshape(count, block).astype(np.float32)
    pause = min(count, round(PAUSE_SECONDS * 100))
    powers = np.convolve(np.square(blocks).mean(axis=1), np.ones(pause), mode="valid")
    last = len(powers) - 1 - int(np.argmin(powers[::-1]))
    return int((last + pause / 2) * block)
