"""What several commands share: the --data option, the running system's servers, and tables on the terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import psycopg
import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pipeline.database import Database
from pipeline.errors import InvalidRequest, NotReady, ServiceUnavailable
from pipeline.settings import Settings
from scripts.system.control import settings_of_running

if TYPE_CHECKING:
    from sqlmodel import Session

Data = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of the embedded system; PRESSROOM_DATA or .pressroom by default."),
]
ServiceUrl = Annotated[str | None, typer.Option("--url", help="The service; by default the one that runs here.")]
Language = Annotated[str | None, typer.Option(help="Language code such as en, es, fr.")]

#: What a terminal obeys rather than shows; rich leaves some of it, ESC for one, in a text.
CONTROL_CODES = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
#: How long a command waits for a database that restarts; a person waits for it too.
PATIENCE = timedelta(seconds=4)
#: Spaces between the columns of a table.
GAP = 2


def settings_for(data: Path | None) -> Settings:
    """Return the settings, with the data folder that the command line names."""
    if data is not None:
        # The environment, and not the object alone, so that processes started from here find the same folder.
        os.environ["PRESSROOM_DATA"] = str(data)
    return Settings()


@contextmanager
def open_database(data: Path | None) -> Iterator[Database]:
    """Connect to the running system's database. Raises NotReady when none runs."""
    url, _ = settings_of_running(settings_for(data)).server_urls()
    with database_errors(psycopg.Error, ServiceUnavailable), Database(url, patience=PATIENCE) as database:
        yield database


@contextmanager
def open_session(data: Path | None) -> Iterator[Session]:
    """Open a session for plain reads of the tables. Raises NotReady when nothing runs."""
    # Here, because they take half a second and 20 MB, and `up` and `sweep` need neither.
    from sqlalchemy import create_engine
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError
    from sqlmodel import Session

    url, _ = settings_of_running(settings_for(data)).server_urls()
    with database_errors(SQLAlchemyError):
        engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
        try:
            with Session(engine) as session:
                yield session
        finally:
            engine.dispose()


@contextmanager
def database_errors(*errors: type[Exception]) -> Iterator[None]:
    """Translate what a database library raises when the server is away, or has other tables. Raises NotReady."""
    try:
        yield
    except errors as error:
        if isinstance(error, ServiceUnavailable) and error.code != "database_unavailable":
            raise  # of the artifact store
        reason = (str(getattr(error, "orig", error)).splitlines() or [type(error).__name__])[0]
        if isinstance(error, ServiceUnavailable):
            reason = f"it does not answer within {PATIENCE.total_seconds():g} seconds"
        raise NotReady(
            f"The database can't be used: {reason}. Check DATABASE_URL, and run `pressroom migrate`."
        ) from error


def read_id(text: str) -> UUID:
    """Read an id from the command line. Raises InvalidRequest."""
    try:
        return UUID(text)
    except ValueError as error:
        raise InvalidRequest(f"{text!r} is not an id: ids look like 123e4567-e89b-12d3-a456-426614174000.") from error


def read_name(text: str) -> str:
    """Read a name from the command line. Raises InvalidRequest."""
    name = text.strip()
    if not name:
        raise InvalidRequest("A name is needed that is more than spaces.")
    try:
        name.encode()
    except UnicodeEncodeError as error:  # bytes of another encoding, as Python hands them on
        raise InvalidRequest("A name has to be UTF-8.") from error
    return name


def plain(value: object) -> Text:
    """Return a value as text for a terminal: names come from users, and neither markup nor control codes count."""
    return Text(CONTROL_CODES.sub(" ", str(value)))


def show_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, console: Console | None = None
) -> None:
    """Print a table; for a program, a header and lines whose values are separated by tabs, numbers without commas.

    The first column is what other commands are told, such as an id: it is never cut. Where the terminal is too narrow
    for all columns, it has a line of its own, and the others follow on the next."""
    console = console or Console()
    texts = [[_shown(value, for_people=console.is_terminal) for value in row] for row in rows]
    if not console.is_terminal:
        for line in (columns, *texts):
            # A name with a tab or a line end in it is one value all the same.
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
