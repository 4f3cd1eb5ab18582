"""Decoders: the threads that decode pictures."""

import os
import threading
from concurrent.futures import Future
from typing import Protocol

from workers.engines.thread_pool import ThreadPool
from workers.media.images.picture import Picture
from workers.media.images.reading import read_picture

#: Most pictures to decode at once: each may take a hundred MB, and engines need cores too.
MOST_AT_ONCE = 4


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ImageLimits(Protocol):
    """The largest picture to decode."""

    max_pixels: int
    max_side: int


class Decoders:
    """A thread pool for pictures. Safe for many threads."""

    def __init__(self, at_once: int | None = None) -> None:
        """`at_once` is one for each two cores by default."""
        self._free = threading.BoundedSemaphore(at_once or max(1, min(MOST_AT_ONCE, _usable_cores() // 2)))
        self._threads = ThreadPool("decoder")

    def start(self, body: bytes, *, limits: ImageLimits, shrink_to: int) -> Future[Picture]:
        """Wait for a free thread and decode a file in it; `shrink_to` is the picture's longest side in pixels.

        The future raises ImageFailure. Raises RuntimeError if no thread can be started."""
        self._free.acquire()
        try:
            picture = self._threads.submit(
                lambda: read_picture(body, max_pixels=limits.max_pixels, max_side=limits.max_side, shrink_to=shrink_to)
            )
        except RuntimeError:  # no thread could be started
            self._free.release()
            raise
        picture.add_done_callback(lambda _: self._free.release())
        return picture
