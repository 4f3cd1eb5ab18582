"""Uploads: files that are sent, from paths or from what is open already, without being read into memory."""

import io
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, TypeAlias

#: A file's path, its bytes, or a file that is open in binary mode; that is sent from its beginning.
Upload: TypeAlias = str | PathLike[str] | bytes | IO[bytes]


@contextmanager
def open_upload(upload: Upload) -> Iterator[IO[bytes]]:
    """Open a file at its beginning. One that was open stays so, for whoever opened it.

    Raises OSError for a path that can't be read. (A file in text mode is a TypeError of httpx2.)"""
    if isinstance(upload, bytes):
        yield io.BytesIO(upload)
    elif isinstance(upload, str | PathLike):
        with Path(upload).open("rb") as file:
            yield file
    else:
        upload.seek(0)
        yield upload


@contextmanager
def repeatable(upload: Upload) -> Iterator[Upload]:
    """Return a file that can be sent again, until the block ends: what comes from a pipe is first copied to disk."""
    if isinstance(upload, bytes | str | PathLike) or upload.seekable():
        yield upload
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(upload, copy)
        yield copy
