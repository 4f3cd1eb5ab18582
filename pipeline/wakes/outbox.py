"""Outbox: sends to Redis from a thread of its own, so that whoever writes to the database never waits for Redis.

Its messages are hints: a lost one costs a second."""

import threading
import time
from collections import deque
from collections.abc import Callable

from pipeline.log import errors_logged, get_logger

log = get_logger(__name__)

#: Messages kept while Redis is silent; then the oldest is dropped.
MOST_WAITING = 1_000


class Outbox:
    """Runs posted functions one after another in one thread, which starts with the first."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._waiting: deque[Callable[[], object]] = deque(maxlen=MOST_WAITING)
        self._changed = threading.Condition()
        self._is_busy = False
        self._thread: threading.Thread | None = None

    def post(self, send: Callable[[], object]) -> None:
        """Run `send` soon; it handles its expected errors."""
        with self._changed:
            self._waiting.append(send)
            if self._thread is None:
                self._thread = threading.Thread(target=self._send_all, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self, *, within: float) -> bool:
        """Wait until all is sent; return False if that takes longer than `within` seconds."""
        until = time.monotonic() + within
        with self._changed:
            while self._waiting or self._is_busy:
                if not self._changed.wait(until - time.monotonic()):
                    return False
        return True

    def _send_all(self) -> None:
        while True:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._waiting)
                send = self._waiting.popleft()
                self._is_busy = True
            with errors_logged(log, "not sent", outbox=self._name):
                send()
