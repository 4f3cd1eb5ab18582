"""Import: the base of all imports of files."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Self, TextIO

from pipeline.csv_cells import kept
from pipeline.sheets.sheet import Row, Sheet

#: Prefix of our names that the file has already.
PREFIX = "pressroom_"
#: How long to repeat a request while the service restarts or asks for a pause.
PATIENCE = timedelta(hours=1)


class Columns:
    """The columns of an import's output; `theirs` come from its input."""

    def __init__(self, theirs: Sequence[str], ours: Sequence[str]) -> None:
        self._width = len(theirs)
        taken = {name.lower() for name in theirs}
        self.header = [kept(name) for name in theirs]
        for name in ours:
            fresh = next(one for one in _names(name) if one not in taken)
            taken.add(fresh)
            self.header.append(fresh)

    def row(self, row: Row, *ours: str) -> list[str]:
        """Return an input row, followed by our cells."""
        theirs = [kept(cell) for cell in row.cells]
        return [*theirs, *[""] * (self._width - len(theirs)), *ours]


def _names(name: str) -> Iterator[str]:
    """Yield a name of ours and its alternatives."""
    yield name
    yield f"{PREFIX}{name}"
    # Results that are imported again have ours already.
    yield from (f"{PREFIX}{name}_{number}" for number in count(2))


class ErrorFile:
    """A CSV file of skipped rows, with line and reason; created with the first row."""

    def __init__(self, file: Path, columns: Callable[[], Columns]) -> None:
        """`columns` is called with the first row, because it reads the whole file."""
        self._file = file
        self._file.unlink(missing_ok=True)  # of an earlier import
        self._find_columns = columns
        self._output: TextIO | None = None
        self.count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._output is not None:
            self._output.close()

    def note(self, row: Row, reason: str) -> None:
        if self._output is None:
            self._columns = self._find_columns()
            self._output = self._file.open("w", encoding="utf-8", newline="")
            csv.writer(self._output).writerow(self._columns.header)
        self.count += 1
        csv.writer(self._output).writerow(self._columns.row(row, str(row.line), reason))


@dataclass(frozen=True, slots=True)
class Estimate:
    """The rows that an import will send, and their greatest cost."""

    rows: int
    faulty: int
    credits: int


class Import(ABC):
    """An import of a file to `out`; after `run`, `reasons` names the file that says why rows have no answer."""

    #: Names of the column to read.
    names: ClassVar[tuple[str, ...]]
    #: Shown after the number of credits.
    price_note: ClassVar[str] = ""

    def __init__(
        self,
        file: Path,
        *,
        column: str | None,
        out: Path,
        errors: Path | None,
        fields: dict[str, Any],
    ) -> None:
        """`errors` is the file for faulty rows; non-empty `fields` go with each request."""
        self.sheet = Sheet(file, column=column, names=self.names, is_wanted=self.is_wanted)
        self.out = self.reasons = out
        self.errors = errors or file.with_suffix(".errors.csv")
        self.sheet.refuse_as_output(self.out, self.errors)
        self.unanswered_rows = 0
        self._fields = {name: value for name, value in fields.items() if value}

    def is_wanted(self, cell: str) -> bool:
        """Return whether a cell surely belongs to the column to read, which identifies a column without a name."""
        return False

    def estimate(self) -> Estimate:
        """Read every row once, and write the faulty ones to their file."""
        rows = cost = 0
        with self.error_file(self.errors) as faults:
            for number, price in self.costs(faults):
                rows += number
                cost += price
        return Estimate(rows, faults.count, cost)

    def error_file(self, file: Path) -> ErrorFile:
        return ErrorFile(file, lambda: self.columns_with(("line", "reason")))

    def columns_with(self, ours: Sequence[str]) -> Columns:
        """Return the file's columns, followed by ours."""
        return Columns(self.sheet.column_names(is_named=self.has_names, unnamed=self.names[0]), ours)

    @property
    def has_names(self) -> bool:
        return self.sheet.has_header

    @property
    def column_name(self) -> str:
        """The name of the column to read, or its number in a file without names."""
        name = (self.sheet.first_value or "").strip() if self.has_names else ""
        return name or f"number {self.sheet.index + 1}"

    @abstractmethod
    def costs(self, faults: ErrorFile) -> Iterator[tuple[int, int]]:
        """Yield the rows and credits of each request; note skipped rows."""

    @abstractmethod
    async def run(self, url: str, key: str) -> None:
        """Send the rows that were not sent before, and write all results."""
