"""Crew: the threads that do a process's work."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

Result = TypeVar("Result")


def promised(work: Callable[[], Result]) -> tuple[Callable[[], None], Future[Result]]:
    """Return what does `work` in any thread and never raises, and what it comes to, or raises there."""
    future: Future[Result] = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - result() raises it
            future.set_exception(error)

    return do, future


class Crew:
    """As many threads as there was ever work for at once: a new one each time costs a third of an index check.

    They are daemons: a hung engine must not keep the process from ending."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._given: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._idle = 0
        self._lock = threading.Lock()

    def give(self, work: Callable[[], None]) -> None:
        """Have something done at once, whatever else goes on. What it raises ends its thread, and no other."""
        with self._lock:
            has_idle = self._idle > 0
            self._idle -= has_idle
        if not has_idle:
            threading.Thread(target=self._serve, name=self._name, daemon=True).start()
        self._given.put(work)

    def _serve(self) -> None:
        while True:
            self._given.get()()
            with self._lock:
                self._idle += 1
