"""Attempts: an engine's turn, after which the next engine may try."""

from collections.abc import Callable
from typing import TypeVar

from pipeline.log import get_logger
from workers.engines import EngineBusy, Stopped
from workers.engines.locks import FairLock

log = get_logger(__name__)

T = TypeVar("T")

#: Returns the lock that an engine's users share.
LockOf = Callable[[object], FairLock]
Stop = Callable[[], bool]


def attempt(engine: str, lock: FairLock, run: Callable[[], T], stop: Stop) -> T | Exception:
    """Run an engine under its lock, and return its answer or the error it raised. Raises Stopped, EngineBusy."""
    try:
        with lock.unless(stop):
            return run()
    except (Stopped, EngineBusy):
        raise
    except Exception as error:  # an engine may be a plug-in, so it may raise anything; the next engine can still serve
        log.warning("engine failed", engine=engine, exc_info=error)
        return error
