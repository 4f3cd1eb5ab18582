"""Demo table: a row for each answer that the demo got."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from scripts.system.control import System

#: Width of a table that goes into a file, in characters.
FILE_COLUMNS = 120


@dataclass(frozen=True, slots=True)
class Shown:
    """One row of the table."""

    route: str
    status: int
    seconds: float
    engine: str
    credits: str
    result: str
    is_skipped: bool = False

    @property
    def has_failed(self) -> bool:
        """Whether it failed, and was not skipped."""
        return self.status >= 400 and not self.is_skipped


def show(rows: Iterable[Shown], system: System) -> None:
    """Print the table."""
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0), show_edge=False)
    for name in ("route", "status", "seconds", "engine", "credits"):
        table.add_column(name, no_wrap=True)
    table.add_column("result", overflow="fold")
    for row in rows:
        colour = "yellow" if row.is_skipped else "red" if row.has_failed else "green"
        table.add_row(
            row.route, f"[{colour}]{row.status}[/]", f"{row.seconds:.2f}", row.engine, row.credits, row.result
        )
    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = FILE_COLUMNS
    console.print(table)
    console.print(f"API documents: {system.address}/docs")
