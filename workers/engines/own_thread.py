"""Own thread: where an engine computes, whoever asks it."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

from workers.crew import promised

Result = TypeVar("Result")


class OwnThread:
    """A daemon thread that does one thing after another.

    OpenMP, which torch computes with on a processor, keeps a team of threads for each thread that calls it. Once there
    are more of them than cores, GNU's waits asleep instead of awake, at every one of a model's steps: called from three
    runs' threads in turn, BLIP took a tenth longer on two cores than from one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._given: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def run(self, work: Callable[[], Result]) -> Result:
        """Return what `work` does when it has been done there, or raise what it raised. `work` must not call this."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
                self._thread.start()
        do, ended = promised(work)
        self._given.put(do)
        return ended.result()

    def _serve(self) -> None:
        while True:
            # Kept under no name: what was done may hold pictures, and the next may be hours away.
            self._given.get()()
