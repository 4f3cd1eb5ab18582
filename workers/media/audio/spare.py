"""Spare: something that takes time to start, started before it is needed and closed if nobody needs it soon."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Generic, TypeVar

from pipeline.log import get_logger

log = get_logger(__name__)

Started = TypeVar("Started", bound=AbstractContextManager[object])


class Spare(Generic[Started]):
    """Keeps one ready for a while after the last was taken.

    It is started by a thread that lives as long as this: an ffmpeg ends with the thread that started it."""

    def __init__(self, start: Callable[[], Started], *, after: timedelta, keep_for: timedelta) -> None:
        """`after`: the next is started when nobody has taken one for so long, as it takes processor from who has."""
        self._start = start
        self._after = after
        self._keep_for = keep_for
        self._starter = ThreadPoolExecutor(1, "spare")
        self._lock = threading.Lock()
        self._spare: Started | None = None
        self._timer: threading.Timer | None = None
        self._is_closed = False

    def take(self) -> Started:
        """Return the one that is ready, else a new one; the caller closes it. Raises what starting raises."""
        with self._lock:
            spare, self._spare = self._spare, None
            self._wait(self._after, self._make)
        return spare if spare is not None else self._start()

    def close(self) -> None:
        """Close the one that is ready, and start no more."""
        with self._lock:
            self._is_closed = True
            if self._timer is not None:
                self._timer.cancel()
        self._drop()
        self._starter.shutdown()

    def _wait(self, pause: timedelta, then: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self._is_closed:
            self._timer = threading.Timer(pause.total_seconds(), then)
            self._timer.daemon = True
            self._timer.start()

    def _make(self) -> None:
        try:
            made = self._starter.submit(self._start).result()
        except (OSError, RuntimeError) as error:  # whoever takes one next starts it, and is told
            log.warning("no spare", error=str(error))
            return
        with self._lock:
            is_kept = self._spare is None and not self._is_closed
            if is_kept:
                self._spare = made
                self._wait(self._keep_for, self._drop)
        if not is_kept:
            made.__exit__(None, None, None)

    def _drop(self) -> None:
        with self._lock:
            spare, self._spare = self._spare, None
        if spare is not None:
            spare.__exit__(None, None, None)
