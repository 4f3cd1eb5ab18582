"""The `pressroom` command."""

import logging
import sys
from importlib.metadata import version
from typing import Annotated

import typer
from pydantic import BaseModel, SecretStr, ValidationError
from rich.console import Console

from pipeline.errors import PressroomError
from scripts.commands import accounts, describe, doctor, import_csv, jobs, keys, pools, say, sweep, transcribe
from scripts.options import Data, database_errors, plain, settings_for, show_table

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(accounts.app, name="accounts")
app.add_typer(keys.app, name="keys")
app.add_typer(jobs.app, name="jobs")
app.add_typer(import_csv.app, name="import-csv")
app.command()(pools.pools)
app.command()(pools.scale)
app.command()(sweep.sweep)
app.command()(doctor.doctor)
app.command()(say.say)
app.command()(transcribe.transcribe)
app.command()(describe.describe)

#: What a shell says of a command that Ctrl-C ended.
INTERRUPTED = 130


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pressroom {version('pressroom')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Speech, transcripts, alt text, post metadata and index checks behind one REST API."""


@app.command()
def up(
    host: Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1 by default.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 8000 by default.")] = None,
    pool: Annotated[list[str] | None, typer.Option(metavar="NAME=PROCESSES", help="How many processes.")] = None,
    any_port: Annotated[bool, typer.Option("--any-port", help="Take a free port when PORT is taken.")] = False,
    data: Data = None,
) -> None:
    """Start everything on this machine: servers, API, workers, sweep."""
    from scripts.system.up import up as run  # it starts processes, which no other command does

    settings = settings_for(data)
    code = run(
        settings,
        host=host or settings.api.host,
        port=settings.api.port if port is None else port,
        pools=dict(pools.read_size(text) for text in pool or []),
        any_port=any_port,
    )
    raise typer.Exit(code)


@app.command()
def migrate(data: Data = None) -> None:
    """Bring the database to the tables and functions of this version."""
    from sqlalchemy.exc import SQLAlchemyError

    from pipeline.migrations import migrate as run
    from scripts.system.control import settings_of_running

    url, _ = settings_of_running(settings_for(data)).server_urls()
    with database_errors(SQLAlchemyError):
        run(url)
    typer.echo("the database is up to date")


@app.command()
def settings(data: Data = None) -> None:
    """List all settings, as environment variables with their values."""
    rows = list(_rows(settings_for(data), "PRESSROOM_"))
    show_table("Settings", ["variable", "value", "meaning"], rows)


def _rows(model: BaseModel, prefix: str) -> list[tuple[str, str, str]]:
    rows = []
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            rows += _rows(value, f"{prefix}{name.upper()}__")
            continue
        variable = name.upper() if name in {"database_url", "redis_url"} else f"{prefix}{name.upper()}"
        shown = "***" if value and (isinstance(value, SecretStr) or variable.endswith("_URL")) else value
        rows.append((variable, "" if shown is None else str(shown), field.description or ""))
    return rows


def main() -> None:
    """Run the command; an error that its user can act on is one line and exit code 1."""
    # Each of its many tries to connect would be two lines; where a log is written, they are in it.
    logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())
    try:
        app()
    except PressroomError as error:
        _fail(error.message)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = "PRESSROOM_" + "__".join(str(part) for part in first["loc"]).upper()
        _fail(f"The setting {name} can't be used: {first['msg']}.")
    except OSError as error:  # a full disk, a folder that isn't ours
        where = f": {error.filename}" if error.filename else ""
        _fail(f"{error.strerror or type(error).__name__}{where}.")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _fail(message: str) -> None:
    Console(stderr=True, soft_wrap=True).print("[bold red]pressroom:[/]", plain(message), highlight=False)
    sys.exit(1)


if __name__ == "__main__":
    main()
