"""Own thread: the one thread in which an engine computes, for all threads that call it."""

from collections.abc import Callable
from typing import TypeVar

from workers.engines.thread_pool import ThreadPool

Result = TypeVar("Result")


class OwnThread:
    """A daemon thread that does one piece of work at a time.

    OpenMP, with which torch computes on a processor, keeps a team of threads for each thread that calls it. When there
    are more of them than cores, GNU's OpenMP lets them sleep between any two steps of a model, and waking them takes
    time: called from the threads of three runs in turn, BLIP took a tenth longer on two cores than from one thread."""

    def __init__(self, name: str) -> None:
        self._threads = ThreadPool(name, most=1)

    def run(self, work: Callable[[], Result]) -> Result:
        """Return what `work` returns in that thread, or raise what it raises. `work` must not call `run` itself."""
        return self._threads.submit(work).result()
