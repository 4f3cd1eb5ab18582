"""Faulty rows: what an import leaves out, in a file for whoever mends them."""

import csv
from pathlib import Path
from typing import Self, TextIO

from pipeline.cells import defused
from scripts.imports.sheets import Row


class ErrorFile:
    """Faulty rows with their line and why; there is no file when there is no fault."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._file.unlink(missing_ok=True)  # an earlier import's
        self._output: TextIO | None = None
        self.count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Write the rest, however the import ends."""
        if self._output is not None:
            self._output.close()

    def note(self, row: Row, reason: str) -> None:
        """Write one down."""
        if self._output is None:
            self._output = self._file.open("w", encoding="utf-8", newline="")
            csv.writer(self._output).writerow(("line", "reason", "value"))
        self.count += 1
        csv.writer(self._output).writerow((row.line, reason, defused((row.value or "")[:200])))
