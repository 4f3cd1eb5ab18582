"""What several commands share: the --data option, the running system's servers, and tables on the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.control import strip_control_codes
from rich.table import Table
from rich.text import Text

from pipeline.database import Database
from pipeline.errors import InvalidRequest
from pipeline.settings import Settings
from scripts.control import settings_of_running

if TYPE_CHECKING:
    from sqlmodel import Session

Data = Annotated[
    Path | None,
    typer.Option("--data", help="Folder of the embedded system; PRESSROOM_DATA or .pressroom by default."),
]


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
    with Database(url) as database:
        yield database


@contextmanager
def open_session(data: Path | None) -> Iterator[Session]:
    """Open a session for plain reads of the tables. Raises NotReady when nothing runs."""
    # Here, because they take half a second and 20 MB, and `up` and `sweep` need neither.
    from sqlalchemy import create_engine
    from sqlalchemy.engine import make_url
    from sqlmodel import Session

    url, _ = settings_of_running(settings_for(data)).server_urls()
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
    try:
        with Session(engine) as session:
            yield session
    finally:
        engine.dispose()


def read_id(text: str) -> UUID:
    """Read an id from the command line. Raises InvalidRequest."""
    try:
        return UUID(text)
    except ValueError as error:
        raise InvalidRequest(f"{text!r} is not an id: ids look like 123e4567-e89b-12d3-a456-426614174000.") from error


def plain(value: object) -> Text:
    """Return a value as text for a terminal: names come from users, and neither markup nor control codes count."""
    return Text(strip_control_codes(str(value)))


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table; empty ones say so."""
    table = Table(*columns, title=title, title_justify="left", header_style="bold")
    for row in rows:
        table.add_row(*("" if value is None else plain(value) for value in row))
    Console().print(table if rows else f"{title}: none")
