"""Leaving: a process that has used models ends when idle; the next one starts without them."""

import os
import signal
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from pipeline.log import get_logger
from pipeline.operations.processes import memory_bytes

log = get_logger(__name__)

LOOK_EVERY = timedelta(seconds=5)
#: Memory taken since the process became ready that is worth a start of a second.
WORTH_BYTES = 80_000_000


def leave_when_idle(
    busy_at: Callable[[], float],
    idle: timedelta,
    *,
    look_every: timedelta = LOOK_EVERY,
    taken: Callable[[], int] = lambda: memory_bytes()[0],
    leave: Callable[[], object] = lambda: os.kill(os.getpid(), signal.SIGTERM),
) -> None:
    """End this process when it has been idle for so long after work that took memory.

    `busy_at` returns when it had work last, in monotonic seconds; 0: never."""

    def look() -> None:
        ready_with = 0
        while True:
            time.sleep(look_every.total_seconds())
            memory, last = taken(), busy_at()
            if not last:
                ready_with = memory
            elif memory - ready_with >= WORTH_BYTES and time.monotonic() - last >= idle.total_seconds():
                log.info("process ends, to give back the memory of idle models", memory_bytes=memory)
                leave()
                return

    threading.Thread(target=look, name="leaving", daemon=True).start()
