"""Turns: a lock that is handed to who has waited longest."""

import threading
from collections import deque
from types import TracebackType


class FairLock:
    """Like `threading.Lock`, which a thread that lets go of it and wants it again mostly gets at once: many short
    turns of one long text would starve everybody else."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._is_taken = False

    def __enter__(self) -> "FairLock":
        with self._guard:
            if not self._is_taken:
                self._is_taken = True
                return self
            turn = threading.Event()
            self._waiting.append(turn)
        turn.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()  # it stays taken: the next one has it now
            else:
                self._is_taken = False
