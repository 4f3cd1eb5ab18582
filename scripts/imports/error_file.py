"""Error file: the rows that an import leaves out, as CSV with line, reason and value."""

import csv
from pathlib import Path
from typing import Self, TextIO

from pipeline.cells import defused
from scripts.imports.sheet import Row


class ErrorFile:
    """A file of faulty rows, made with the first of them."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._file.unlink(missing_ok=True)  # of an earlier import
        self._output: TextIO | None = None
        self.count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file, also after an error."""
        if self._output is not None:
            self._output.close()

    def note(self, row: Row, reason: str) -> None:
        """Write a row and the reason."""
        if self._output is None:
            self._output = self._file.open("w", encoding="utf-8", newline="")
            csv.writer(self._output).writerow(("line", "reason", "value"))
        self.count += 1
        csv.writer(self._output).writerow((row.line, reason, defused((row.value or "")[:200])))
