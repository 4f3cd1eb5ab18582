"""Terminal: how commands print lists, for people and for programs, and what they tell beside their results."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

#: Control characters, which a terminal would obey. rich leaves some of them in a text, ESC for one.
CONTROL_CODES = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
#: Spaces between the columns of a table.
GAP = 2


def plain(value: object) -> Text:
    """Return a value as text for a terminal, without control characters; markup in it is not read as such."""
    return Text(CONTROL_CODES.sub(" ", str(value)))


def tell(text: str, *, style: str | None = None) -> None:
    """Write a line to standard error."""
    Console(stderr=True, soft_wrap=True).print(plain(text), style=style, highlight=False)


def progress_bar(*, unit: str = "", transient: bool = False) -> Progress:
    """Return a bar on standard error, with what is done and what there is in all; a transient one goes at its end."""
    name = TextColumn("{task.description}", markup=False)  # names of files may have brackets
    count = TextColumn(f"{{task.completed:.0f}}/{{task.total:.0f}}{unit}")
    columns = (name, BarColumn(), count, TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=transient)


def show_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, console: Console | None = None
) -> None:
    """Print a table. A program gets a header and lines with tabs between the values, and numbers without commas.

    The first column, such as an id, is for other commands, and is never cut: on a narrow terminal it has a line of its
    own, and the other columns follow on the next."""
    console = console or Console()
    texts = [[_shown(value, for_people=console.is_terminal) for value in row] for row in rows]
    if not console.is_terminal:
        for line in (columns, *texts):
            # Without tabs and line ends within a value.
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
