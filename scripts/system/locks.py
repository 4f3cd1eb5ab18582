"""Locks: a data folder has one system, and each server's folder one server."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from pipeline.errors import NotReady
from scripts.system.folders import private_folder

#: How long a server waits for the one before it, which may still shut down after the supervisor's death.
PREDECESSOR_PATIENCE = timedelta(seconds=60)


@contextmanager
def only_system(data: Path) -> Iterator[None]:
    """Hold DATA for this process alone. Raises NotReady when another system has it."""
    descriptor = os.open(private_folder(data) / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _lock(descriptor):
            raise NotReady(f"A system is running on {data} already. Stop it, or choose another folder with --data.")
        yield
    finally:
        os.close(descriptor)


def only_server(file: Path) -> None:
    """Hold a lock for the life of this process, of the program that it becomes, and of that program's children.

    So the folder has one server, even while the one before, killed or orphaned, still shuts down."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    os.set_inheritable(descriptor, True)
    until = time.monotonic() + PREDECESSOR_PATIENCE.total_seconds()
    while not _lock(descriptor):
        if time.monotonic() > until:
            raise NotReady(f"Another server is still running on {file.parent}. Stop it and start again.")
        time.sleep(0.02)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
