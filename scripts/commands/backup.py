"""`pressroom backup` and `restore`: a system's data as one file."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import psycopg
import typer

from pipeline.errors import InvalidRequest
from pipeline.storage.artifacts import Artifacts, open_store
from scripts.commands import SYSTEM, under
from scripts.options import Data, database_errors, settings_for


def backup(file: Annotated[Path, typer.Argument(help="A new file.")], data: Data = None) -> None:
    """Write the database, the artifacts and the secrets' key to a file, while the system runs or not."""
    from scripts.backup.archive import describe, write_archive
    from scripts.backup.database import any_database
    from scripts.backup.seal import signing_keys

    if file.exists():
        raise InvalidRequest(f"{file} exists already. Choose another name.")
    if not file.absolute().parent.is_dir():
        raise InvalidRequest(f"{file.absolute().parent} is not a folder.")
    settings = settings_for(data)
    with any_database(settings) as url:
        store, keys = Artifacts(open_store(settings)), signing_keys(settings)
        made = write_archive(file.absolute(), url, store, settings.data, signing_keys=keys)
    typer.echo(f"{file}: {describe(made)}")


def restore(
    file: Annotated[Path, typer.Argument(help="A backup of this release or an earlier one.")],
    replace: Annotated[bool, typer.Option("--replace", help="Move the existing database in DATA aside.")] = False,
    unsigned: Annotated[
        bool, typer.Option("--unsigned", help="Trust a backup that PRESSROOM_SECRETS_KEY has not signed.")
    ] = False,
    data: Data = None,
) -> None:
    """Restore a backup into a system that is off, also to move to a new major version of PostgreSQL."""
    from sqlalchemy.exc import SQLAlchemyError

    from pipeline.lifecycle.migrations import migrate
    from scripts.backup.archive import describe, read_archive
    from scripts.backup.database import empty_database
    from scripts.backup.seal import signing_keys

    if not file.is_file():
        raise InvalidRequest(f"{file} is not a file.")
    settings = settings_for(data)
    aside = f"before-restore-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    with database_errors(psycopg.Error, SQLAlchemyError), empty_database(settings, replace=replace, aside=aside) as url:
        store, keys = Artifacts(open_store(settings)), [] if unsigned else signing_keys(settings)
        made = read_archive(file, url, store, settings.data, signing_keys=keys)
        migrate(url)
    typer.echo(f"restored {file}, {describe(made)}")


register = under(SYSTEM, backup, restore)
