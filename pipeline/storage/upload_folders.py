"""Upload folders: one for each job, in a store that is a folder; obstore's list leaves out part of their content.

Results lie in folders of days, of which the same is true."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID


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
