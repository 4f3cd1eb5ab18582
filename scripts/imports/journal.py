"""Journal: the steps that an import has done, so that the same command continues it after a stop."""

import json
import os
from pathlib import Path
from typing import Any

from pipeline.errors import Conflict

#: What to do when an import can't be continued; "it" is the journal's file.
BEGIN_ANEW = "Delete it to begin anew, which is charged anew."


class Journal:
    """A file with a line of JSON for each step; each line is on the disk before the next step begins."""

    def __init__(self, file: Path, *, about: dict[str, Any], remedy: str = BEGIN_ANEW) -> None:
        """`about` tells one import from another. Raises Conflict, with the remedy, for the journal of another one.

        `begin` makes the file, so an import that failed before it blocks no other."""
        self.file = file
        self._about = about
        self._remedy = remedy
        self.steps: list[dict[str, Any]] = []
        if file.exists():
            self._read()

    def note(self, **step: Any) -> None:
        """Write a step; the first one begins the journal."""
        self.begin()
        self.steps.append(step)
        self._append(step)

    def begin(self) -> None:
        """Write which import it is, into a new file."""
        if not self.file.exists():
            self._append(self._about)

    def close(self) -> None:
        """Delete the journal: the import is done."""
        self.file.unlink(missing_ok=True)

    def _append(self, line: dict[str, Any]) -> None:
        with self.file.open("a", encoding="utf-8") as opened:
            opened.write(json.dumps(line) + "\n")
            opened.flush()
            os.fsync(opened.fileno())

    def _read(self) -> None:
        lines, size, last = [], 0, b""
        for text in self.file.read_bytes().splitlines(keepends=True):
            try:
                lines.append(json.loads(text))
            except ValueError:
                break  # the import was stopped while it wrote this line
            size, last = size + len(text), text
        if not lines:
            self.file.unlink()
            return
        if lines[0] != self._about:
            raise Conflict(
                f"{self.file} is of another import: the file or the options have changed since. {self._remedy}"
            )
        self.steps = lines[1:]
        # Without the line that was half written. Cut, not written anew: a stop in the midst of that would lose all.
        with self.file.open("r+b") as opened:
            opened.truncate(size)
            if not last.endswith(b"\n"):
                opened.seek(0, os.SEEK_END)
                opened.write(b"\n")
