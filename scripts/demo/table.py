"""Demo table: a row an answer, and the commands that improve them."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from pipeline.settings import Settings
from scripts.system.control import System
from workers.engines.registry import fallbacks
from workers.models.advice import brings_better
from workers.models.store import ModelStore

#: Width of a table in a file, in characters.
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
        """True if it failed, and was not skipped."""
        return self.status >= 400 and not self.is_skipped


def show(rows: Iterable[Shown], system: System) -> None:
    without_model = fallbacks()
    table = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 1, 0, 0), show_edge=False)
    for name in ("route", "status", "seconds", "engine", "credits"):
        table.add_column(name, no_wrap=True)
    table.add_column("result", overflow="fold")
    for row in rows:
        colour = "yellow" if row.is_skipped else "red" if row.has_failed else "green"
        table.add_row(
            row.route,
            f"[{colour}]{row.status}[/]",
            f"{row.seconds:.2f}",
            f"{row.engine}*" if without_model.keys() & row.engine.split("+") else row.engine,
            row.credits,
            row.result,
        )
    console = _console()
    console.print(table)
    console.print(f"API documents: {system.address}/docs")


def show_fallbacks(rows: Iterable[Shown], settings: Settings) -> None:
    """Print which answers come from fallbacks without a model, and the command that brings a better engine."""
    used = {engine for row in rows for engine in row.engine.split("+")}
    without_model = {engine: family for engine, family in fallbacks().items() if engine in used}
    if not without_model:
        return
    console, store = _console(), ModelStore(settings)
    console.print("\n* a fallback without a model:")
    for engine, family in without_model.items():
        console.print(f"  {engine}: {brings_better(store, family, settings.models.download)}", highlight=False)
    console.print("  All that suits this machine: [bold]pressroom models fetch --recommended[/]", highlight=False)


def _console() -> Console:
    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = FILE_COLUMNS
    return console
