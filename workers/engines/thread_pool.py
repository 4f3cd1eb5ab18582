"""Thread pool: threads that take work on at once, and the one thread in which an engine computes."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

Result = TypeVar("Result")


class ThreadPool:
    """Daemon threads, which stay for the next work: a new one each time costs a third of an index check.

    It differs from concurrent.futures' in two ways: a hung engine does not keep the process from ending, and without
    `most` there are as many threads as there was ever work for at once, so that nothing waits for another."""

    def __init__(self, name: str, *, most: int | None = None) -> None:
        self._name = name
        self._most = most
        self._given: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        #: Work that is queued or under way.
        self._open = 0

    def start(self, work: Callable[[], object]) -> None:
        """Do some work in a thread of the pool. An exception ends that thread, and is printed as any thread's is.

        Raises RuntimeError when no thread can be started."""
        with self._lock:
            if self._open == self._threads and (self._most is None or self._threads < self._most):
                threading.Thread(target=self._serve, name=self._name, daemon=True).start()
                self._threads += 1
            self._open += 1
        self._given.put(work)

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Do some work in a thread of the pool; the future has its result, or its exception. Raises RuntimeError."""
        future: Future[Result] = Future()
        self.start(lambda: _settle(future, work))
        return future

    def _serve(self) -> None:
        while True:
            is_done = False
            try:
                # Kept under no name: what was done may hold pictures, and the next work may come hours later.
                self._given.get()()
                is_done = True
            finally:
                with self._lock:
                    self._open -= 1
                    self._threads -= not is_done


def _settle(future: Future[Result], work: Callable[[], Result]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001  result() raises it again
        future.set_exception(error)


class OwnThread:
    """A daemon thread that does one piece of work at a time.

    OpenMP, with which torch computes on a processor, keeps a team of threads for each thread that calls it. With more
    of them than cores, GNU's lets them sleep between two steps of a model: a tenth of the time on two cores."""

    def __init__(self, name: str) -> None:
        self._threads = ThreadPool(name, most=1)

    def run(self, work: Callable[[], Result]) -> Result:
        """Return the result of `work` in that thread, or raise its exception. `work` must not call `run` itself."""
        return self._threads.submit(work).result()
