"""Lock file: the SHA-256 of each file whose hash the catalogue does not know, as the first download found it."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import NotReady
from workers.models.catalogue import CatalogueModel, File, is_safe
from workers.models.sources.hub import COMMIT

NAME = "models.lock.json"
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class FileLocked:
    """The first download: its commit and files, each with its hash."""

    repo: str
    #: The revision in the catalogue at that time, such as a branch, and its commit.
    revision: str
    commit: str
    files: tuple[File, ...]


class LockFile:
    """One JSON file beside the models' folders. Copied to another machine, it makes that one take the same files."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME

    def find(self, model: CatalogueModel) -> FileLocked | None:
        """Return what was downloaded first; None: nothing was, or the catalogue has another source since.

        Raises NotReady when the file can't be read, or names what no download writes down: it is copied between
        machines, and its paths are written to."""
        entry = self._read().get(model.name)
        if entry is None:
            return None
        try:
            files = tuple(File(name, found["sha256"], found["bytes"]) for name, found in entry["files"].items())
            locked = FileLocked(entry["repo"], entry["revision"], entry["commit"], files)
            _check(locked, model)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
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


def _check(locked: FileLocked, model: CatalogueModel) -> None:
    """Raises ValueError, or TypeError for what is no text, where an entry is not as `write` makes it."""
    if not COMMIT.fullmatch(locked.commit):
        raise ValueError(f"{locked.commit!r} is no commit")
    listed = {file.name for file in model.files}
    for file in locked.files:
        if not (file.name in listed or is_safe(file.name)):
            raise ValueError(f"{file.name!r} is no file of a model")
        # A bool would be an int too.
        if type(file.size_bytes) is not int or not SHA256.fullmatch(file.sha256 or ""):
            raise ValueError(f"size or SHA-256 of {file.name!r} is none")
