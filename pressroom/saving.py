"""Saving: results that go into a file, whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO
from uuid import uuid4


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file beside `path`, and put it in its place when the block ends without an error."""
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{uuid4().hex[:8]}.part")
    try:
        with unfinished.open("wb") as output:
            yield output
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
