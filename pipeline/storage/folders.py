"""Folders: root works in no folder of another user, who could put links or programs in it; names are synced to disk."""

import os
import stat
from pathlib import Path

from pipeline.errors import NotReady


def refuse_foreign(data: Path) -> None:
    """Raise NotReady when this is root, and another user owns the folder or may write to it."""
    if os.geteuid() != 0 or not data.exists():
        return
    found = data.lstat()
    if found.st_uid != 0:
        raise NotReady(
            f"{data} belongs to user {found.st_uid}, and this is root. Run Pressroom as that user, or choose another"
            " folder with --data."
        )
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise NotReady(
            f"{data} may be written by other users, and this is root. Look into it, then `chmod go-w {data}`."
        )


def without_links(root: str, key: str) -> str:
    """Return a key if no folder or file on its way is a link, which could lead anywhere. Raises FileNotFoundError."""
    path = root
    for part in key.split("/"):
        path = f"{path}/{part}"
        if os.path.islink(path):  # noqa: PTH114  a tenth of the time of a Path, at each artifact
            raise FileNotFoundError(f"{path} is a link")
    return key


def sync_folder(folder: Path) -> None:
    """Return when the disk has the names in a folder; files are synced by who writes them. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
