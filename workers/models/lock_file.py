"""Lock file: the SHA-256 of each file whose hash the catalogue does not know, as the first download found it."""

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, StrictInt

from pipeline.errors import NotReady
from workers.models.catalogue import CatalogueModel, File, is_safe
from workers.models.sources.hub import COMMIT

NAME = "models.lock.json"


class _HashedFile(BaseModel):
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: StrictInt  # else True would be one


class FileLocked(BaseModel):
    """The first download: the catalogue's revision at that time, such as a branch, its commit, and its files."""

    repo: str
    revision: str
    commit: str = Field(pattern=f"^{COMMIT.pattern}$")
    hashed: dict[str, _HashedFile] = Field(alias="files")

    @property
    def files(self) -> tuple[File, ...]:
        """The files, each with its hash."""
        return tuple(File(name, file.sha256, file.bytes) for name, file in self.hashed.items())


class LockFile:
    """One JSON file beside the models' folders. Copied to another machine, it makes that one take the same files."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME

    def find(self, model: CatalogueModel) -> FileLocked | None:
        """Return the first download's entry; None: there is none, or the catalogue has another source since.

        Raises NotReady when the file can't be read, or names what no download writes down: it is copied between
        machines, and its paths are written to."""
        entry = self._read().get(model.name)
        if entry is None:
            return None
        try:
            locked = FileLocked.model_validate(entry)
            listed = {file.name for file in model.files}
            if unsafe := [name for name in locked.hashed if not (name in listed or is_safe(name))]:
                raise ValueError(f"{unsafe[0]!r} is not a file of a model")
        except ValueError as error:
            raise NotReady(f"{self.path} is damaged at {model.name!r}; delete that entry, or the file.") from error
        if model.hub is None or (locked.repo, locked.revision) != (model.hub.repo, model.hub.revision):
            return None
        return locked

    def write(self, model: CatalogueModel, *, commit: str, files: Sequence[File]) -> None:
        """Write down what was downloaded. Raises NotReady, OSError."""
        assert model.hub is not None  # noqa: S101 - it was downloaded from there
        found = {file.name: {"sha256": file.sha256, "bytes": file.size_bytes} for file in files}
        entry = {"repo": model.hub.repo, "revision": model.hub.revision, "commit": commit, "files": found}
        entries = dict(self._read()) | {model.name: entry}
        unfinished = self.path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(json.dumps(entries, indent=2, sort_keys=True) + "\n", "utf-8")
        unfinished.replace(self.path)

    def _read(self) -> Mapping[str, Any]:
        try:
            entries = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise NotReady(
                f"{self.path} can't be read ({error}); delete it to trust what is downloaded next."
            ) from error
        if not isinstance(entries, dict):
            raise NotReady(f"{self.path} is damaged; delete it to trust what is downloaded next.")
        return entries


@contextmanager
def exclusive(path: Path, *, on_wait: Callable[[], None] | None = None, wait: bool = True) -> Iterator[bool]:
    """Hold a lock while the `with` block lasts; yields whether it is held. It ends with the process that holds it.

    `wait` False: do not wait for another process. `on_wait` is called before a wait. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                yield False
                return
            if on_wait is not None:
                on_wait()
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield True
