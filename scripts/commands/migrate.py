"""`pressroom migrate`: the database gets the tables and functions of this version."""

import typer

from scripts.commands import SYSTEM, under
from scripts.options import Data, database_errors, settings_for


def migrate(data: Data = None) -> None:
    """Bring the database to the tables and functions of this version."""
    from sqlalchemy.exc import SQLAlchemyError

    from pipeline.migrations import migrate as run
    from scripts.system.control import settings_of_running

    url, _ = settings_of_running(settings_for(data)).server_urls()
    with database_errors(SQLAlchemyError):
        run(url)
    typer.echo("the database is up to date")


register = under(SYSTEM, migrate)
