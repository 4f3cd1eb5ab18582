"""Upload folders: one a job, in a store that is a folder; a store's own list hides some of what lies in them."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID


def changes(uploads: Path) -> Iterator[tuple[str, datetime]]:
    """Yield each upload's folder and when it last changed. Raises OSError.

    The store's own list would hide the empty folders of refused uploads, and the `music#1` of those cut off."""
    with contextlib.suppress(FileNotFoundError), os.scandir(uploads) as folders:
        for folder in folders:
            # A folder may be deleted at any time: its job has ended.
            with contextlib.suppress(FileNotFoundError):
                if folder.is_dir(follow_symlinks=False):
                    yield folder.name, _changed_at(folder)


def delete(uploads: Path, job_id: UUID) -> None:
    """Delete a job's folder, if it is there. Raises OSError."""
    # Twice, should another process delete a file under our hands; the sweep finds what is left even so.
    for _ in range(2):
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(uploads / str(job_id))


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
