"""Imports: what the imports of CSV files of all families have in common."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from scripts.imports.sheet import Sheet

#: How long a request is repeated while the service restarts or asks for a pause.
PATIENCE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an import will send, and the most it will cost."""

    rows: int
    faulty: int
    credits: int


class Import(Protocol):
    """One import of a file."""

    sheet: Sheet
    #: Where the results and the faulty rows go.
    out: Path
    errors: Path
    #: After `run`: how many rows have no answer, and which file says why.
    unanswered_rows: int
    reasons: Path

    def estimate(self) -> Estimate:
        """Read every row once, and write the faulty ones into their file."""

    async def run(self, url: str, key: str) -> None:
        """Send what was not sent before, and write all results."""


def progress_bar() -> Progress:
    """Return the bar that all imports show."""
    return Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
