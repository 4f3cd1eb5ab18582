"""`pressroom up`: a whole system on one machine."""

from typing import Annotated

import typer

from scripts.commands import SYSTEM, under
from scripts.commands.pools import read_size
from scripts.options import Data, settings_for


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
        pools=dict(read_size(text) for text in pool or []),
        any_port=any_port,
    )
    raise typer.Exit(code)


register = under(SYSTEM, up)
