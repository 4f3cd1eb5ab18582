"""Import: what the imports of CSV files of all families have in common."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar, Self, TextIO

from pipeline.cells import defused
from scripts.imports.sheet import Row, Sheet

#: How long a request is repeated while the service restarts or asks for a pause.
PATIENCE = timedelta(hours=1)


class ErrorFile:
    """The rows that an import leaves out, as CSV with line, reason and value; made with the first of them."""

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
        self.sheet = Sheet(file, column=column, names=self.names, has_header=has_header)
        self.out = self.reasons = out
        self.errors = errors or file.with_suffix(".errors.csv")
        self.sheet.refuse_as_output(self.out, self.errors)
        self.unanswered_rows = 0
        self._fields = {name: value for name, value in fields.items() if value}

    def estimate(self) -> Estimate:
        """Read every row once, and write the faulty ones into their file."""
        rows = cost = 0
        with ErrorFile(self.errors) as faults:
            for number, price in self.costs(faults):
                rows += number
                cost += price
        return Estimate(rows, faults.count, cost)

    @abstractmethod
    def costs(self, faults: ErrorFile) -> Iterator[tuple[int, int]]:
        """Yield numbers of rows that are sent together, with their credits; note the rows that are not sent."""

    @abstractmethod
    async def run(self, url: str, key: str) -> None:
        """Send what was not sent before, and write all results."""
