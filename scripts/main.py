"""The `pressroom` command."""

import logging
import sys
from importlib.metadata import version
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console

from pipeline.errors import PressroomError
from pipeline.settings.settings_sources import variable
from pressroom.errors import PressroomError as ServiceError
from scripts.commands import register_all
from scripts.service import said
from scripts.terminal import plain

#: Exit code of a command that Ctrl-C ended.
INTERRUPTED = 130


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pressroom {version('pressroom')}")
        raise typer.Exit


def create_app(wanted: str | None = None) -> typer.Typer:
    """Return the command with all subcommands, or with the wanted one alone."""
    app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

    @app.callback()
    def options(
        version: Annotated[
            bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
        ] = False,
    ) -> None:
        """Speech, transcripts, alt text, post metadata and index checks behind one REST API."""

    register_all(app, wanted)
    return app


def main() -> None:
    """Run the command. An error that the user can act on prints one line, with exit code 1."""
    # Otherwise it writes two lines to standard error at each attempt to connect.
    logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())
    try:
        create_app(next(iter(sys.argv[1:]), None))()
    except PressroomError as error:
        _fail(error.message)
    except ServiceError as error:
        _fail(said(error))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = tuple(str(part) for part in first["loc"])
        reason = first["msg"].removeprefix("Value error, ")
        _fail(f"The setting {variable(path)} (in a file {'.'.join(path)}) can't be used: {reason}.")
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
