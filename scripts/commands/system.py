"""`pressroom up`, `work`, `migrate`, `pools` and `scale`: a system's processes."""

from typing import Annotated

import typer

from pipeline.errors import InvalidRequest
from pipeline.operations import supervision
from pipeline.operations.supervision import Pool
from scripts.commands import SYSTEM, under
from scripts.options import Data, database_errors, settings_for
from scripts.system import control
from scripts.terminal import show_table


def up(
    host: Annotated[str | None, typer.Option(help="Address to listen on; 127.0.0.1 by default.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 8000 by default.")] = None,
    pool: Annotated[list[str] | None, typer.Option(metavar="NAME=PROCESSES", help="How many processes.")] = None,
    any_port: Annotated[bool, typer.Option("--any-port", help="Take a free port if PORT is taken.")] = False,
    small: Annotated[bool, typer.Option("--small", help="Save memory: one process for all pools.")] = False,
    data: Data = None,
) -> None:
    """Start everything on this machine: servers, API, workers, sweep."""
    from scripts.system.up import up as run  # only this command starts processes

    settings = settings_for(data)
    code = run(
        settings,
        host=host or settings.api.host,
        port=settings.api.port if port is None else port,
        pools=dict(read_size(text) for text in pool or []),
        any_port=any_port,
        small=small or settings.small,
    )
    raise typer.Exit(code)


def work(
    queues: Annotated[list[str], typer.Argument(metavar="QUEUE…", help="For example synthesis.")], data: Data = None
) -> None:
    """Serve queues in this process, as one of their pools."""
    from workers.main import serve  # only this command works

    serve(control.settings_of_running(settings_for(data)), queues)


def migrate(data: Data = None) -> None:
    """Update the database to the tables and functions of this version."""
    from sqlalchemy.exc import SQLAlchemyError

    from pipeline.lifecycle.migrations import migrate as run

    url, _ = control.settings_of_running(settings_for(data)).server_urls()
    with database_errors(SQLAlchemyError):
        run(url)
    typer.echo("the database is up to date")


def pools(data: Data = None) -> None:
    """Show the processes on this machine."""
    _show(supervision.pools(settings_for(data).data))


def scale(
    wanted: Annotated[list[str], typer.Argument(metavar="POOL=N…", help="For example synthesis=4, or synthesis=1..4.")],
    data: Data = None,
) -> None:
    """Set each pool's number of processes, or bounds for automatic scaling; restarts keep them."""
    folder = settings_for(data).data
    for name, low, high in [read_bounds(text) for text in wanted]:
        running = supervision.scale(folder, name, low, most=high)
    _show(running)


def read_size(text: str) -> tuple[str, int]:
    """Read `POOL=N`. Raises InvalidRequest."""
    name, _, number = text.partition("=")
    if not name or not number.isdecimal():
        raise InvalidRequest(f"{text!r} lacks a number: write POOL=N, for example synthesis=4.")
    return name, int(number)


def read_bounds(text: str) -> tuple[str, int, int]:
    """Read `POOL=N` or `POOL=N..M`. Raises InvalidRequest."""
    low, dots, high = text.partition("..")
    name, least = read_size(low)
    most = int(high) if high.isdecimal() else least
    if dots and not (high.isdecimal() and least <= most):
        raise InvalidRequest(f"{text!r} lacks two bounds: write POOL=N..M, for example synthesis=1..4.")
    return name, least, most


def _show(running: list[Pool]) -> None:
    rows = [(one.name, one.wanted, " ".join(map(str, one.pids)), one.restarts, one.out_of_memory) for one in running]
    show_table("Processes", ["name", "processes", "pids", "restarts", "out of memory"], rows)


register = under(SYSTEM, up, work, migrate, pools, scale)
