"""Handover: coroutines that threads want run in another thread's event loop, and what becomes of them."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Handover(Generic[T]):
    """Like `asyncio.run_coroutine_threadsafe`, but those that are handed over together wake the loop once.

    It writes to the loop's socket for each, and the two threads then take turns at the interpreter's lock: that was a
    quarter of a small download's time."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._given: list[tuple[Callable[[], Coroutine[Any, Any, T]], Future[T]]] = []
        self._is_woken = False
        self._guard = threading.Lock()

    def start(self, run: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run what a function returns; cancelling the future stops it. Raises RuntimeError once the loop is closed."""
        future: Future[T] = Future()
        with self._guard:
            if not self._is_woken:
                self._loop.call_soon_threadsafe(self._begin)
                self._is_woken = True
            self._given.append((run, future))
        return future

    def _begin(self) -> None:
        with self._guard:
            given, self._given = self._given, []
            self._is_woken = False
        for run, future in given:
            task = self._loop.create_task(run())
            task.add_done_callback(partial(_hand_back, future))
            future.add_done_callback(partial(self._stop, task))

    def _stop(self, task: "asyncio.Task[T]", future: "Future[T]") -> None:
        if future.cancelled() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(task.cancel)


def _hand_back(future: "Future[T]", task: "asyncio.Task[T]") -> None:
    error = None if task.cancelled() else task.exception()  # asked for in any case, or asyncio complains
    if task.cancelled():
        future.cancel()
    # Only now: a future that runs could not be cancelled any more.
    if not future.set_running_or_notify_cancel():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())
