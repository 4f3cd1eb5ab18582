"""Folders of a store on the disk: whose they are, and what obstore's list leaves out: uploads in one of each job,
results in one of each day."""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

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


def changes(uploads: Path) -> Iterator[tuple[str, datetime]]:
    """Yield each upload's folder and when it last changed. Raises OSError.

    obstore's list leaves out the empty folders of refused uploads, and the `music#1` of interrupted ones."""
    with contextlib.suppress(FileNotFoundError), os.scandir(uploads) as folders:
        for folder in folders:
            # A folder may be deleted at any time: its job has ended.
            with contextlib.suppress(FileNotFoundError):
                if folder.is_dir(follow_symlinks=False):
                    yield folder.name, _changed_at(folder)


def delete(uploads: Path, job_id: UUID) -> None:
    """Delete a job's folder, if it is there. Raises OSError."""
    delete_folder(uploads / str(job_id))


def delete_folder(folder: Path) -> None:
    """Delete a folder, if it is there. Raises OSError."""
    # Twice, in case another process deletes a file meanwhile; the sweep deletes what is left.
    for _ in range(2):
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(folder)


def delete_all(folder: Path) -> int:
    """Delete a folder, also the `….wav#1` of interrupted writes in it; returns how many files. Raises OSError."""
    count = sum(len(files) for _, _, files in os.walk(folder))
    delete_folder(folder)
    return count


def read_id(name: str) -> UUID | None:
    """Return the job that an upload's name names; None for anything else that lies there, such as `.DS_Store`."""
    try:
        job_id = UUID(name)
    except ValueError:
        return None
    return job_id if str(job_id) == name else None


def _changed_at(folder: "os.DirEntry[str]") -> datetime:
    """Return when a folder or a file of it last changed: one that still arrives is young."""
    times = [folder.stat().st_mtime]
    with os.scandir(folder) as files:
        times += [file.stat(follow_symlinks=False).st_mtime for file in files]
    return datetime.fromtimestamp(max(times), UTC)
