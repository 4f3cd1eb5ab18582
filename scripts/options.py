"""Options that commands share, and what they stand for: settings, a service, a database, an id, a name."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import psycopg
import typer
from pydantic import HttpUrl, ValidationError

from pipeline.database import Database, DatabaseUnavailable, Row, Statement
from pipeline.errors import InvalidRequest, NotReady, ServiceUnavailable
from pipeline.settings import Settings
from pressroom.finding import URL_VARIABLE, find_key, folders
from scripts.system.control import find_system, settings_of_running

Data = Annotated[
    Path | None, typer.Option("--data", help="Folder of the embedded system; PRESSROOM_DATA or .pressroom by default.")
]
ServiceUrl = Annotated[
    str | None, typer.Option("--url", envvar=URL_VARIABLE, help="The service; by default the one that runs here.")
]
Language = Annotated[str | None, typer.Option(help="Language code such as en, es, fr.")]

#: How long a command waits for a restarting database.
PATIENCE = timedelta(seconds=4)


def settings_for(data: Path | None) -> Settings:
    """Return the settings, with the command line's data folder."""
    return Settings() if data is None else Settings(data=data)


def find_service(url: str | None, data: Path | None) -> tuple[str, str]:
    """Return address and key of the named service, or of the system that runs here, as clients find them.

    Raises NotReady, InvalidRequest, pressroom.Unauthorized."""
    folder = settings_for(data).data
    if url:
        address = _checked(url).rstrip("/")
        return address, find_key(None, address, folder)
    for found in [folder] if data else [folder, *folders()]:
        if system := find_system(found):
            return system.address, find_key(None, system.address, found)
    raise NotReady("No Pressroom runs here. Start one with `pressroom up`, or name one with --url.")


def _checked(url: str) -> str:
    with suppress(ValidationError):
        if HttpUrl(url).port != 0:
            return url
    raise InvalidRequest(f"{url!r} is not the address of a service: addresses look like http://127.0.0.1:8000.")


@contextmanager
def open_database(data: Path | None) -> Iterator[Database]:
    """Connect to the running system's database. Raises NotReady when none runs."""
    url, _ = settings_of_running(settings_for(data)).server_urls()
    with database_errors(psycopg.Error, ServiceUnavailable, url=url), Database(url, patience=PATIENCE) as database:
        yield database


def list_rows(data: Path | None, sql: str, **parameters: Any) -> list[list[Any]]:
    """Return the rows of a query. Raises NotReady when nothing runs."""
    statement: Statement[list[Row]] = Statement(sql, parameters)
    with open_database(data) as database:
        return [list(row.values()) for row in database.run(statement)]


@contextmanager
def database_errors(*errors: type[Exception], url: str = "") -> Iterator[None]:
    """Translate errors of a server that is away or not migrated. Raises NotReady."""
    try:
        yield
    except errors as error:
        if isinstance(error, ServiceUnavailable) and not isinstance(error, DatabaseUnavailable):
            raise  # it comes from the artifact store
        reason = (str(getattr(error, "orig", error)).splitlines() or [type(error).__name__])[0]
        if isinstance(error, ServiceUnavailable):
            silence = f"it does not answer within {PATIENCE.total_seconds():g} seconds"
            reason = (url and why_refused(url)) or silence
        raise NotReady(
            f"The database can't be used: {reason}. Check DATABASE_URL, and run `pressroom migrate`."
        ) from error


def why_refused(url: str) -> str | None:
    """Return why the server or the network refuses a connection, such as a wrong password; None: it doesn't."""
    try:
        psycopg.connect(url, connect_timeout=round(PATIENCE.total_seconds())).close()
    except psycopg.OperationalError as error:
        return (str(error).splitlines() or [type(error).__name__])[0]
    return None


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
        raise InvalidRequest("The name is empty. Give one with at least a letter or a digit.")
    try:
        name.encode()
    except UnicodeEncodeError as error:  # other bytes arrive as lone surrogates
        raise InvalidRequest("A name has to be UTF-8.") from error
    return name
