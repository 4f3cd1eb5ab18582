"""Locks: a fair lock."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workers.engines import Stopped

#: Seconds between two calls of `stop` by a thread that waits.
STOP_CHECK_SECONDS = 0.2


class FairLock:
    """A lock that goes to the thread that has waited longest.

    A thread that releases a `threading.Lock` and acquires it again at once mostly gets it again. So a long text, which
    acquires it for each of its parts, would starve all others. With `places` so many threads have it at once."""

    def __init__(self, places: int = 1) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._free = places

    def __enter__(self) -> "FairLock":
        self._queue_up().wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._pass_on()

    @contextmanager
    def unless(self, stop: Callable[[], bool]) -> Iterator[None]:
        """Hold the lock while the `with` block lasts. Raises Stopped when `stop` returns True before it is acquired.

        `stop` is called five times a second while the thread waits, and once more when it has the lock."""
        place = self._queue_up()
        try:
            while not place.wait(STOP_CHECK_SECONDS):
                if stop():
                    raise Stopped
            if stop():
                raise Stopped
            yield
        finally:
            self._leave(place)

    def _queue_up(self) -> threading.Event:
        place = threading.Event()
        with self._guard:
            if self._free:
                self._free -= 1
                place.set()
            else:
                self._waiting.append(place)
        return place

    def _leave(self, place: threading.Event) -> None:
        with self._guard:
            if place in self._waiting:
                self._waiting.remove(place)
                return
        self._pass_on()  # it has the lock, perhaps only since this moment

    def _pass_on(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()  # its place stays taken: the next thread has it now
            else:
                self._free += 1
