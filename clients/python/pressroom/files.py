"""Files: uploads that are read while they are sent, and results that are written whole or not at all."""

import io
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, TypeAlias
from uuid import uuid4

#: A path, bytes, or a file open in binary mode, which is sent from its beginning.
Upload: TypeAlias = str | PathLike[str] | bytes | IO[bytes]


@contextmanager
def open_upload(upload: Upload) -> Iterator[IO[bytes]]:
    """Open a file at its beginning, and close it unless it was open before.

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
    """Return an upload that can be sent again until the block ends; a pipe is first copied to disk."""
    if isinstance(upload, bytes | str | PathLike) or upload.seekable():
        yield upload
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(upload, copy)
        yield copy


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a new file beside `path`; it replaces `path` when the block ends without an error."""
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{uuid4().hex[:8]}.part")
    try:
        with unfinished.open("wb") as output:
            yield output
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
