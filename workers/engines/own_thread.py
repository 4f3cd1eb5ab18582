"""Own thread: the one thread in which an engine computes, for all threads that call it."""

from collections.abc import Callable
from typing import TypeVar

from workers.engines.thread_pool import ThreadPool

Result = TypeVar("Result")


class OwnThread:
    """A daemon thread that does one piece of work at a time.

    OpenMP, with which torch computes on a processor, keeps a team of threads for each thread that calls it. With more
    of them than cores, GNU's lets them sleep between two steps of a model: a tenth of the time on two cores."""

    def __init__(self, name: str) -> None:
        self._threads = ThreadPool(name, most=1)

    def run(self, work: Callable[[], Result]) -> Result:
        """Return what `work` returns in that thread, or raise what it raises. `work` must not call `run` itself."""
        return self._threads.submit(work).result()
