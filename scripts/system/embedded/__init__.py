"""Servers that a system brings along: PostgreSQL and Redis, started from wheels or from what the machine has."""

import fcntl
import hashlib
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from pipeline.errors import NotReady

#: A unix socket's path has at most 103 bytes on macOS and 107 on Linux; the longest name that we append takes 17.
MAX_FOLDER_BYTES = 85
#: How long a server waits for its predecessor, which may be shutting down after the supervisor's death.
PREDECESSOR_PATIENCE = timedelta(seconds=60)


@dataclass(frozen=True)
class Server:
    """A server to run: the command of its launcher, where it will listen, and the signal that stops it."""

    name: str
    argv: tuple[str, ...]
    url: str
    stopped_by: signal.Signals


def sockets_folder(data: Path) -> Path:
    """Return the folder of a system's unix sockets: short, whatever DATA is."""
    folder = data.resolve() / "run"
    if len(os.fsencode(folder)) > MAX_FOLDER_BYTES:
        name = hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:16]
        folder = Path(tempfile.gettempdir()) / f"pressroom-{os.geteuid()}-{name}"
    return folder


def private_folder(folder: Path) -> Path:
    """Return a folder that only its owner reads, made if need be.

    Raises NotReady when it is another's: in a shared temporary folder anybody may have been there first."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise NotReady(f"{folder} can't be made: {error.strerror}. Choose another folder with --data.") from error
    if os.geteuid() not in (0, folder.lstat().st_uid) or folder.is_symlink():
        raise NotReady(f"{folder} belongs to another user. Choose another folder with --data.")
    return folder


def only_server(lock: Path) -> None:
    """Hold `lock` for the life of this process, the program that it becomes, and that program's children.

    So the data folder is this server's alone, even while a predecessor, killed or orphaned, is still shutting down.
    """
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    os.set_inheritable(descriptor, True)
    until = time.monotonic() + PREDECESSOR_PATIENCE.total_seconds()
    while not _locked(descriptor):
        if time.monotonic() > until:
            raise NotReady(f"Another server is still running on {lock.parent}. Stop it and start again.")
        time.sleep(0.02)


def fail(error: NotReady) -> None:
    """End a launcher with one clear line."""
    sys.stderr.write(f"{error.message}\n")
    sys.exit(1)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
