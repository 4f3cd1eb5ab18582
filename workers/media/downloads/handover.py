"""Handover: other threads start coroutines in an event loop, and get futures of their results."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from typing import Any, Generic, TypeVar

from pipeline.coalescing import Batches

T = TypeVar("T")


class Handover(Generic[T]):
    """Like `asyncio.run_coroutine_threadsafe`, but coroutines that are started together wake the loop once.

    asyncio's function wakes the loop for each one, and both threads then compete for Python's global lock: that was a
    quarter of a small download's time."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._given: Batches[tuple[Callable[[], Coroutine[Any, Any, T]], Future[T]]] = Batches()

    def start(self, run: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run what a function returns; cancelling the future stops it. Raises RuntimeError once the loop is closed."""
        future: Future[T] = Future()
        if self._given.add((run, future)):
            try:
                self._loop.call_soon_threadsafe(self._begin)
            except RuntimeError:
                self._given.abandon()  # so that it raises for the next caller as well
                raise
        return future

    def _begin(self) -> None:
        while given := self._given.take():
            for run, future in given:
                task = self._loop.create_task(run())
                task.add_done_callback(partial(_hand_back, future))
                future.add_done_callback(partial(self._stop, task))

    def _stop(self, task: "asyncio.Task[T]", future: "Future[T]") -> None:
        if future.cancelled() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(task.cancel)


def _hand_back(future: "Future[T]", task: "asyncio.Task[T]") -> None:
    error = None if task.cancelled() else task.exception()  # read in any case, or asyncio logs a warning
    if task.cancelled():
        future.cancel()
    # Not earlier: a future that is running can't be cancelled any more.
    if not future.set_running_or_notify_cancel():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())
