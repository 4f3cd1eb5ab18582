"""Journals: what an import has done so far, so that it can be stopped and taken up again."""

import json
import os
from pathlib import Path
from typing import Any

from pipeline.errors import Conflict


class Journal:
    """A file of lines, one a step that was taken; each is on the disk before the next step begins."""

    def __init__(self, file: Path, *, about: dict[str, Any]) -> None:
        """`about` says which import it is; another's journal is refused."""
        self.file = file
        self.steps: list[dict[str, Any]] = []
        if file.exists():
            self._read(about)
            return
        self._append(about)

    def note(self, **step: Any) -> None:
        """Note a step."""
        self.steps.append(step)
        self._append(step)

    def close(self) -> None:
        """The import is done: nothing is left to take up."""
        self.file.unlink(missing_ok=True)

    def _append(self, line: dict[str, Any]) -> None:
        with self.file.open("a", encoding="utf-8") as opened:
            opened.write(json.dumps(line) + "\n")
            opened.flush()
            os.fsync(opened.fileno())

    def _read(self, about: dict[str, Any]) -> None:
        lines = []
        for text in self.file.read_text("utf-8").splitlines():
            try:
                lines.append(json.loads(text))
            except ValueError:
                break  # it was stopped while it wrote this
        if not lines:
            self.file.unlink()
            self._append(about)
            return
        if lines[0] != about:
            raise Conflict(
                f"{self.file} is of another import: the file or the options have changed since. "
                "Delete it to begin anew, which is charged anew."
            )
        self.steps = lines[1:]
        # What was half written is written again.
        self.file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
