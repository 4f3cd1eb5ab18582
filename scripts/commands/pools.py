"""`pressroom pools` and `pressroom scale`: how many processes serve each queue."""

from typing import Annotated

import typer

from pipeline.errors import InvalidRequest
from scripts.commands import SYSTEM, under
from scripts.options import Data, settings_for
from scripts.system import control
from scripts.system.supervisor import Pool
from scripts.tables import show_table


def pools(data: Data = None) -> None:
    """Show what runs on this machine."""
    _show(control.pools(settings_for(data).data))


def scale(
    wanted: Annotated[list[str], typer.Argument(metavar="POOL=N…", help="For example synthesis=4.")],
    data: Data = None,
) -> None:
    """Change how many processes a pool has; the others go on, and a process that goes ends its work first."""
    sizes = dict(read_size(text) for text in wanted)
    folder = settings_for(data).data
    for name, processes in sizes.items():
        running = control.scale(folder, name, processes)
    _show(running)


def read_size(text: str) -> tuple[str, int]:
    """Read `POOL=N`. Raises InvalidRequest."""
    name, _, number = text.partition("=")
    if not name or not number.isdecimal():
        raise InvalidRequest(f"{text!r} does not say how many: write POOL=N, for example synthesis=4.")
    return name, int(number)


def _show(running: list[Pool]) -> None:
    rows = [(pool.name, pool.wanted, " ".join(map(str, pool.pids)), pool.restarts) for pool in running]
    show_table("Processes", ["name", "processes", "pids", "restarts"], rows)


register = under(SYSTEM, pools, scale)
