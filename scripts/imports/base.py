"""Import: what the imports of CSV files of all families have in common."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, Self, TextIO

from scripts.imports.columns import Columns
from scripts.imports.sheet import Row, Sheet

#: How long a request is repeated while the service restarts or asks for a pause.
PATIENCE = timedelta(hours=1)


class ErrorFile:
    """The rows that an import leaves out, as CSV: as they are, with their line and the reason; made with the first."""

    def __init__(self, file: Path, columns: Callable[[], Columns]) -> None:
        """`columns` are asked for with the first row: they are read from all of the file."""
        self._file = file
        self._file.unlink(missing_ok=True)  # of an earlier import
        self._find_columns = columns
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
            self._columns = self._find_columns()
            self._output = self._file.open("w", encoding="utf-8", newline="")
            csv.writer(self._output).writerow(self._columns.header)
        self.count += 1
        csv.writer(self._output).writerow(self._columns.row(row, str(row.line), reason))


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an import will send, and the most it will cost."""

    rows: int
    faulty: int
    credits: int


class Import(ABC):
    """One import of a file. Results go to `out`; after `run`, `reasons` says why rows have no answer."""

    #: Names of the column that is read.
    names: ClassVar[tuple[str, ...]]
    #: What a person is told beside the number of credits.
    price_note: ClassVar[str] = ""

    def __init__(
        self,
        file: Path,
        *,
        column: str | None,
        out: Path,
        errors: Path | None,
        fields: dict[str, Any],
        has_header: bool | None = None,
    ) -> None:
        """`errors` is where faulty rows go; `fields` are sent with each request, unless they are empty."""
        self.sheet = Sheet(file, column=column, names=self.names, has_header=has_header, is_wanted=self.is_wanted)
        self.out = self.reasons = out
        self.errors = errors or file.with_suffix(".errors.csv")
        self.sheet.refuse_as_output(self.out, self.errors)
        self.unanswered_rows = 0
        self._fields = {name: value for name, value in fields.items() if value}

    def is_wanted(self, cell: str) -> bool:
        """Return whether a cell is surely of the column that is read, which tells it where no name does."""
        return False

    def estimate(self) -> Estimate:
        """Read every row once, and write the faulty ones into their file."""
        rows = cost = 0
        with self.error_file(self.errors) as faults:
            for number, price in self.costs(faults):
                rows += number
                cost += price
        return Estimate(rows, faults.count, cost)

    def error_file(self, file: Path) -> ErrorFile:
        """Return a file for rows that are left out."""
        return ErrorFile(file, lambda: self.columns_with(("line", "reason")))

    def columns_with(self, ours: Sequence[str]) -> Columns:
        """Return the columns of the file that is read, and ours behind them."""
        return Columns(self.sheet.column_names(is_named=self.has_names, unnamed=self.names[0]), ours)

    @property
    def has_names(self) -> bool:
        """Whether the first row names the columns."""
        return self.sheet.has_header

    @property
    def column_name(self) -> str:
        """The column that is read: its name, or its number where no row names the columns."""
        name = (self.sheet.first_value or "").strip() if self.has_names else ""
        return name or f"number {self.sheet.index + 1}"

    @abstractmethod
    def costs(self, faults: ErrorFile) -> Iterator[tuple[int, int]]:
        """Yield numbers of rows that are sent together, with their credits; note the rows that are not sent."""

    @abstractmethod
    async def run(self, url: str, key: str) -> None:
        """Send what was not sent before, and write all results."""
