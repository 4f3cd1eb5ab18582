"""Terminal: tables, messages and times for people and programs, and files that a command may overwrite."""

import os
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from pipeline.errors import InvalidRequest

#: Control characters, which a terminal would obey. rich leaves some of them in a text, ESC for one.
CONTROL_CODES = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
#: Spaces between the columns of a table.
GAP = 2
#: Units of an age, the longest first, with their seconds.
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def plain(value: object) -> Text:
    """Return a value as text for a terminal, without control characters or markup."""
    return Text(CONTROL_CODES.sub(" ", str(value)))


def tell(text: str, *, style: str | None = None) -> None:
    Console(stderr=True, soft_wrap=True).print(plain(text), style=style, highlight=False)


def progress_bar(*, unit: str = "", transient: bool = False) -> Progress:
    """Return a progress bar on standard error; a transient one disappears at its end."""
    name = TextColumn("{task.description}", markup=False)  # file names may contain brackets
    count = TextColumn(f"{{task.completed:.0f}}/{{task.total:.0f}}{unit}")
    columns = (name, BarColumn(), count, TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=transient)


def show_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, console: Console | None = None
) -> None:
    """Print a table. Programs get a header and tab-separated lines, with plain numbers.

    The first column, usually an id, is never cut: on a narrow terminal it takes a line of its own."""
    console = console or Console()
    texts = [[_shown(value, for_people=console.is_terminal) for value in row] for row in rows]
    if not console.is_terminal:
        for line in (columns, *texts):
            # Values contain no tabs or line ends.
            typer.echo("\t".join(" ".join(value.split()) for value in line), file=console.file)
        return
    if not rows:
        console.print(f"{title}: none")
        return
    console.print(title, style="italic", highlight=False)
    lines = [Text(column, style="bold") for column in columns], *([Text(value) for value in row] for row in texts)
    widths = [max(line[number].cell_len for line in lines) for number in range(len(columns))]
    if sum(widths) + GAP * (len(widths) - 1) <= console.width:
        console.print(_grid(lines, widths))
        return
    for first, *others in lines:
        console.print(first, soft_wrap=True)
        console.print(Padding(_grid([others], widths[1:]), (0, 0, 0, GAP)))


def _shown(value: object, *, for_people: bool) -> str:
    if value is None:
        return ""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_number and for_people else plain(value).plain


def _grid(lines: Iterable[Iterable[Text]], widths: Iterable[int]) -> Table:
    grid = Table.grid(padding=(0, GAP, 0, 0))
    for width in widths:
        grid.add_column(width=width, overflow="fold")
    for line in lines:
        grid.add_row(*line)
    return grid


def age(moment: datetime, now: datetime | None = None) -> str:
    """Return how long ago something was, in its largest unit: 5 s, 3 min, 2 h, 12 d."""
    return length((now or datetime.now(UTC)) - moment)


def length(time: timedelta) -> str:
    """Return a length of time in its largest unit."""
    seconds = max(0, int(time.total_seconds()))
    size, unit = next(((size, unit) for size, unit in UNITS if seconds >= size), UNITS[-1])
    return f"{seconds // size} {unit}"


def readable(moment: datetime, now: datetime | None = None) -> str:
    """Return a moment in local time and its distance from now: 2026-11-23 09:12:05 CET, 3 min ago."""
    now = now or datetime.now(UTC)
    far = f"{length(now - moment)} ago" if moment <= now else f"in {length(moment - now)}"
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S %Z}, {far}"


def check_outputs(files: Iterable[Path], *, overwrite: bool) -> None:
    """Refuse files that can't be written; at a terminal, ask before overwriting. Call it before anything is charged.

    Raises InvalidRequest, typer.Abort."""
    for file in files:
        if file.is_dir():
            raise InvalidRequest(f"{file} is a folder. Name a file to write, such as {file / 'out.mp3'}.")
        if not os.access(file.parent, os.W_OK | os.X_OK) or not file.parent.is_dir():
            raise InvalidRequest(f"{file} can't be written: {file.parent} is not a folder that you may write to.")
        if not file.exists() or overwrite:
            continue
        if not sys.stdin.isatty():
            raise InvalidRequest(f"{file} exists already. Pass --overwrite, or choose another name.")
        typer.confirm(f"{file} exists already. Overwrite it?", abort=True, err=True)
