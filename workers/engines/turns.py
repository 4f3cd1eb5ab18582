"""Turns: a lock that is handed to who has waited longest, and which engines share one."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from workers.engines import Stopped

#: Seconds between two looks of one that waits, whether anybody still wants what it waits for.
LOOK_SECONDS = 0.2


def turn_of(engine: object) -> "FairLock":
    """Return the lock of an engine that takes one batch at a time: the same for whoever in this process uses it.

    Engines on one GPU (`gpu`, as models.gpu_of names it) have one together: each has batches that fit the memory while
    no other is at work, and would else find too little and make smaller ones from then on."""
    if (gpu := getattr(engine, "gpu", None)) is not None:
        return _of_gpus.setdefault(gpu, FairLock())
    # It keeps the engine, so no other ever gets its id.
    return _turns.setdefault(id(engine), (engine, FairLock()))[1]


class FairLock:
    """Like `threading.Lock`, which a thread that lets go of it and wants it again mostly gets at once: many short
    turns of one long text would starve everybody else."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._is_taken = False

    def __enter__(self) -> "FairLock":
        turn = self._queue_up()
        turn.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._pass_on()

    @contextmanager
    def unless(self, stop: Callable[[], bool]) -> Iterator[None]:
        """Have the lock while the `with` block lasts, and leave the queue for it when `stop` says so. Raises Stopped.

        `stop` is asked now and then while one waits, and once more when the turn has come."""
        turn = self._queue_up()
        try:
            while not turn.wait(LOOK_SECONDS):
                if stop():
                    raise Stopped
            if stop():
                raise Stopped
            yield
        finally:
            self._leave(turn)

    def _queue_up(self) -> threading.Event:
        turn = threading.Event()
        with self._guard:
            if self._is_taken:
                self._waiting.append(turn)
            else:
                self._is_taken = True
                turn.set()
        return turn

    def _leave(self, turn: threading.Event) -> None:
        with self._guard:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return
        self._pass_on()  # its turn had come, in this moment perhaps

    def _pass_on(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()  # it stays taken: the next one has it now
            else:
                self._is_taken = False


_turns: dict[int, tuple[object, FairLock]] = {}
_of_gpus: dict[str, FairLock] = {}
