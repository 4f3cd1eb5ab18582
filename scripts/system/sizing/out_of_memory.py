"""Out of memory: how often the kernel has killed a process for its memory, in this container or on this machine."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

#: Of a container, and of a whole machine.
COUNTERS = (Path("/sys/fs/cgroup/memory.events"), Path("/proc/vmstat"))
#: A program that is killed so often in a row is left alone for a while: each start takes the memory again.
MOST, PAUSE = 3, timedelta(minutes=10)
ADVICE = "give the machine more memory, run fewer processes, or start `pressroom up --small`"


def count_kills() -> int:
    """Return how many processes were killed; 0 where nobody counts."""
    for file in COUNTERS:
        try:
            lines = dict(line.split() for line in file.read_text().splitlines())
            return int(lines["oom_kill"])
        except (OSError, KeyError, ValueError):
            continue
    return 0


class Shortages:
    """How often in a row a program was killed for its memory."""

    def __init__(self, count_kills: Callable[[], int]) -> None:
        self._count_kills = count_kills
        self._kills = 0
        self._in_a_row = 0

    def watch(self) -> None:
        """Note that the program starts."""
        self._kills = self._count_kills()

    def have_struck(self, status: int) -> bool:
        """Return whether the program, which ended with this exit status, was killed for its memory."""
        has_struck = status != 0 and self._count_kills() > self._kills
        self._in_a_row = self._in_a_row + 1 if has_struck else 0
        return has_struck

    @property
    def pause(self) -> timedelta:
        """How long to leave the program alone."""
        return PAUSE if self._in_a_row and self._in_a_row % MOST == 0 else timedelta()
