"""Track: sound of any length in an unnamed temporary file, so that an hour needs no memory."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import IO

import numpy as np
from numpy.typing import NDArray

from workers.media.audio.ffmpeg import Ffmpeg
from workers.media.audio.pcm import SAMPLE_BYTES, Pcm

Samples = NDArray[np.int16]

#: Samples read at once: 6 s at 44.1 kHz.
BLOCK = 2**18


class Track:
    """Mono 16-bit samples at `sample_rate` hertz; leaving its `with` block deletes them."""

    def __init__(self, sample_rate: int) -> None:
        self.sample_rate = sample_rate
        self.file: IO[bytes] = tempfile.TemporaryFile(prefix="pressroom-", buffering=0)  # noqa: SIM115  closed by close

    def __enter__(self) -> "Track":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Return the number of samples."""
        return os.fstat(self.file.fileno()).st_size // SAMPLE_BYTES

    @property
    def duration(self) -> timedelta:
        """How long the sound lasts."""
        return timedelta(seconds=len(self) / self.sample_rate)

    def append(self, samples: bytes | bytearray | memoryview) -> None:
        """Put samples (16 bit, little-endian) at the end."""
        view = memoryview(samples)
        while view:
            view = view[self.file.write(view) :]

    def append_sound(self, sound: Pcm) -> None:
        """Put a sound at the end. Raises ValueError for another sample rate."""
        if sound.sample_rate != self.sample_rate:
            raise ValueError(f"A sound of {sound.sample_rate} Hz does not fit a track of {self.sample_rate} Hz.")
        self.append(sound.samples)

    def append_silence(self, duration: timedelta) -> None:
        """Put silence at the end."""
        size = os.fstat(self.file.fileno()).st_size + round(duration.total_seconds() * self.sample_rate) * SAMPLE_BYTES
        self.file.truncate(size)
        self.file.seek(size)

    def read(self, start: int, count: int) -> Samples:
        """Return `count` samples from `start` on, with silence for those before the first and behind the last."""
        first = max(start, 0)
        wanted = max(0, start + count - first)
        found = np.frombuffer(os.pread(self.file.fileno(), wanted * SAMPLE_BYTES, first * SAMPLE_BYTES), "<i2")
        before = min(first - start, count)
        return found if len(found) == count else np.pad(found, (before, count - before - len(found)))

    def blocks(self, size: int = BLOCK) -> Iterator[Samples]:
        """Yield all samples, `size` at a time."""
        for start in range(0, len(self), size):
            yield self.read(start, min(size, len(self) - start))

    def resampled(self, ffmpeg: Ffmpeg, sample_rate: int) -> "Track":
        """Return the same sound at another rate. Raises FfmpegFailed."""
        self.file.seek(0)
        with new_track(sample_rate) as resampled:
            ffmpeg.resample(self.file, resampled.file, sample_rate=self.sample_rate, wanted=sample_rate)
        return resampled

    def close(self) -> None:
        """Delete the sound."""
        self.file.close()


@contextmanager
def new_track(sample_rate: int) -> Iterator[Track]:
    """Yield a track to be filled. It is deleted when the block raises; else the caller closes it."""
    with ExitStack() as undone:
        yield undone.enter_context(Track(sample_rate))
        undone.pop_all()
