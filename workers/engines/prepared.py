"""Prepared files: data that engines read from the data folder when they need it, instead of holding it in memory."""

import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Generic, TypeVar

from pipeline.log import get_logger
from pipeline.storage.upload_folders import sync_folder
from workers.engines import malloc
from workers.models.files import sha256_of

log = get_logger(__name__)

Thing = TypeVar("Thing")

#: The folder of prepared files, in the data folder.
PREPARED = "prepared"
#: The first requests and the starts of other processes are over by then.
PREPARE_AFTER = timedelta(seconds=10)
#: Files of other versions that are older than this are deleted: nobody is making them.
LEFT_AFTER = timedelta(hours=1)

#: Sums of a folder's files, in the folder.
SUMS = "sums.json"
#: The code here that decides what a folder holds. Read at import: an upgrade may replace it under a running process.
_CODE = [Path(__file__).with_name(name).read_text("utf-8") for name in ("prepared.py", "tables.py")]

_root: Path | None = None


def keep_in(data: Path) -> None:
    """Keep this process's prepared files in the data folder. Until then there are none."""
    global _root
    _root = data / PREPARED


class Prepared(Generic[Thing]):
    """A thing that `load` makes until `write` has prepared a folder for it; from then on `open` reads it there.

    A folder is made again only if one of the `versions` changes. Safe for threads."""

    def __init__(
        self,
        name: str,
        *versions: str,
        load: Callable[[], Thing],
        write: Callable[[Thing, Path], object],
        open: Callable[[Path], Thing],
    ) -> None:
        self._name = name
        self._digest = hashlib.sha256("\n".join([*versions, *_CODE]).encode()).hexdigest()[:16]
        self._load, self._write, self._open = load, write, open
        self._thing: Thing | None = None
        self._lock = threading.Lock()

    def get(self) -> Thing:
        """Return the thing. Raises what `load` does."""
        with self._lock:
            if self._thing is None:
                self._thing = self._opened()
            if self._thing is None:
                self._thing = self._load()
                if _root is not None:
                    timer = threading.Timer(PREPARE_AFTER.total_seconds(), self.prepare)
                    timer.daemon = True
                    timer.start()
            return self._thing

    def prepare(self) -> None:
        """Write the folder, and give the loaded thing's memory back."""
        if (folder := self._folder()) is None:
            return
        try:
            if not folder.is_dir():
                self._make(folder)
        except (OSError, sqlite3.Error) as error:
            log.warning("files not prepared", folder=str(folder), error=str(error))
            return
        if (opened := self._opened()) is not None:
            with self._lock:
                self._thing = opened
            malloc.trim()

    def _folder(self) -> Path | None:
        return _root and _root / f"{self._name}-{self._digest}"

    def _opened(self) -> Thing | None:
        """Return the thing from its folder, which is deleted if it is damaged; None if there is none."""
        if (folder := self._folder()) is None or not folder.is_dir():
            return None
        try:
            if json.loads((folder / SUMS).read_text("utf-8")) != _sums(folder):
                raise ValueError("The files are not as they were written.")
            opened = self._open(folder)
        except (OSError, ValueError, KeyError, sqlite3.Error) as error:
            log.warning("prepared files damaged", folder=str(folder), error=str(error))
            shutil.rmtree(folder, ignore_errors=True)
            return None
        for other in folder.parent.glob(f"{self._name}-*"):
            with suppress(OSError):
                if other != folder and time.time() - other.stat().st_mtime > LEFT_AFTER.total_seconds():
                    shutil.rmtree(other)
        return opened

    def _make(self, folder: Path) -> None:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f"{self._name}-", dir=folder.parent) as unfinished:
            self._write(self.get(), Path(unfinished))
            (Path(unfinished) / SUMS).write_text(json.dumps(_sums(Path(unfinished))), "utf-8")
            for file in Path(unfinished).iterdir():
                with file.open("rb") as opened:
                    os.fsync(opened.fileno())
            try:
                Path(unfinished).rename(folder)
            except OSError:
                if not folder.is_dir():  # or another process was faster
                    raise
        sync_folder(folder.parent)


def _sums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of a folder's files by their names."""
    return {file.name: sha256_of(file) for file in folder.iterdir() if file.name != SUMS}
