"""Out of memory: programs that the kernel kills for their memory as they start."""

import time
from collections.abc import Callable
from datetime import timedelta

#: A program that is killed so often in a row is left alone for a while: each start takes the memory again.
MOST, PAUSE = 3, timedelta(minutes=10)
#: After so long a program has started, and its work is to blame, which the sweep gives up after three crashes.
STARTED = timedelta(seconds=25)
ADVICE = "give the machine more memory, run fewer processes, or start `pressroom up --small`"


class Shortages:
    """How often in a row a program was killed for its memory."""

    def __init__(self, count_kills: Callable[[], int]) -> None:
        self._count_kills = count_kills
        self._kills = 0
        self._in_a_row = 0
        self._began = 0.0

    def watch(self) -> None:
        """Note that the program starts."""
        self._kills = self._count_kills()
        self._began = time.monotonic()

    def have_struck(self, status: int) -> bool:
        """Return whether the program, which ended with this exit status, was killed for its memory."""
        has_struck = status != 0 and self._count_kills() > self._kills
        soon = time.monotonic() - self._began < STARTED.total_seconds()
        self._in_a_row = self._in_a_row + 1 if has_struck and soon else 0
        return has_struck

    @property
    def pause(self) -> timedelta:
        """How long to leave the program alone."""
        return PAUSE if self._in_a_row and self._in_a_row % MOST == 0 else timedelta()
