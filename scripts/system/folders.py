"""Folders: those of a system that only its owner may read."""

import hashlib
import os
import tempfile
from pathlib import Path

from pipeline.errors import NotReady

#: A unix socket's path has at most 103 bytes on macOS and 107 on Linux.
MAX_SOCKET_BYTES = 103
#: The longest path in the folder.
LONGEST_NAME = "/postgres/.s.PGSQL.5432"


def sockets_folder(data: Path) -> Path:
    """Return the folder of a system's unix sockets: in DATA, or in a temporary folder where that path is too long."""
    folder = data.resolve() / "run"
    if len(os.fsencode(folder)) > MAX_SOCKET_BYTES - len(LONGEST_NAME):
        name = hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:16]
        folder = Path(tempfile.gettempdir()) / f"pressroom-{os.geteuid()}-{name}"
    return folder


def private_folder(folder: Path) -> Path:
    """Return a folder that only its owner reads, made if need be.

    Raises NotReady when it belongs to another user, who may have made it first in a shared temporary folder."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise NotReady(f"{folder} can't be made: {error.strerror}. Choose another folder with --data.") from error
    if os.geteuid() not in (0, folder.lstat().st_uid) or folder.is_symlink():
        raise NotReady(f"{folder} belongs to another user. Choose another folder with --data.")
    return folder
