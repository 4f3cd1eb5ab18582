"""Folders: private to their owner, and held by one system or server at a time."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from pipeline.errors import NotReady
from pipeline.storage.upload_folders import refuse_foreign, sync_folder

#: How long a server waits for its predecessor, which may still shut down after the supervisor's death.
PREDECESSOR_PATIENCE = timedelta(seconds=60)


def private_folder(folder: Path) -> Path:
    """Return a folder that only its owner can read, creating it if needed.

    Raises NotReady if it belongs to another user, who may have created it first in a shared temporary folder."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise NotReady(f"{folder} can't be made: {error.strerror}. Choose another folder with --data.") from error
    if os.geteuid() not in (0, folder.lstat().st_uid) or folder.is_symlink():
        raise NotReady(f"{folder} belongs to another user. Choose another folder with --data.")
    return folder


def write_private(file: Path, text: str) -> None:
    """Write or replace a file that only its owner can read; it survives a power cut."""
    unfinished = file.with_name(f"{file.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    unfinished.replace(file)
    sync_folder(file.parent)


@contextmanager
def only_system(data: Path) -> Iterator[None]:
    """Lock DATA for this process. Raises NotReady if another system, or user, has it."""
    refuse_foreign(data)
    descriptor = os.open(private_folder(data) / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not _lock(descriptor):
            raise NotReady(f"A system is running on {data} already. Stop it, or choose another folder with --data.")
        yield
    finally:
        os.close(descriptor)


def only_server(file: Path) -> None:
    """Hold a lock for the life of this process, the program that it becomes, and that program's children.

    So a folder has one server, even while a killed predecessor still shuts down."""
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
