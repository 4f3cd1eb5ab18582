"""Resting: an idle process gives memory back. One that has used models ends; the next one starts without them."""

import os
import signal
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from pipeline.log import get_logger
from pipeline.operations.processes import memory_bytes
from workers.engines import malloc

log = get_logger(__name__)

LOOK_EVERY = timedelta(seconds=5)
#: Memory taken since the process became ready that is worth a start of a second.
WORTH_BYTES = 80_000_000


def rest_when_idle(
    busy_at: Callable[[], float],
    leave_after: timedelta | None,
    *,
    look_every: timedelta = LOOK_EVERY,
    taken: Callable[[], int] = lambda: memory_bytes()[0],
    trim: Callable[[], object] = malloc.trim,
    leave: Callable[[], object] = lambda: os.kill(os.getpid(), signal.SIGTERM),
) -> None:
    """Return freed memory to the system soon after work, and end this process when it has been idle for `leave_after`.

    It ends only if work took memory; None: it never ends, as nobody starts another. `busy_at` returns when it had work
    last, in monotonic seconds; 0: never."""

    def look() -> None:
        ready_with, trimmed_at = 0, 0.0
        while True:
            time.sleep(look_every.total_seconds())
            last = busy_at()
            idle = time.monotonic() - last
            if not last:
                ready_with = taken()
            elif last > trimmed_at and idle >= look_every.total_seconds():
                trim()
                trimmed_at = last
            elif leave_after and idle >= leave_after.total_seconds() and taken() - ready_with >= WORTH_BYTES:
                log.info("process ends, to give back the memory of idle models", memory_bytes=taken())
                leave()
                return

    threading.Thread(target=look, name="resting", daemon=True).start()
