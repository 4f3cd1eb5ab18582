"""Commands for index checks: `pressroom import-csv check`."""

from pathlib import Path
from typing import Annotated

import typer

from capabilities.index_check.requests.request import MAX_URLS
from scripts.commands.import_csv import Again, Column, DryRun, Errors, run_import
from scripts.commands.import_csv import group as import_csv
from scripts.options import Data, ServiceUrl


def register(_: typer.Typer) -> None:
    """The one command is registered with its group."""


@import_csv.command("check")
def import_urls(
    file: Annotated[Path, typer.Argument(metavar="URLS.csv")],
    column: Column = None,
    out: Annotated[Path | None, typer.Option(help="Where the results go; by default FILE.results.csv.")] = None,
    errors: Errors = None,
    engine: Annotated[str | None, typer.Option(help="A search provider; by default the service's own order.")] = None,
    index: Annotated[str | None, typer.Option(help="Whose index has to answer, such as google.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask now, whatever was answered lately.")] = False,
    batch: Annotated[int, typer.Option(min=1, max=MAX_URLS, help="URLs of one job.")] = MAX_URLS,
    again: Again = False,
    dry_run: DryRun = False,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Check whether URLs are in search results; stopped, the same command goes on where it was."""
    from capabilities.index_check.commands.sheet import (
        IndexCheckImport,  # aiohttp, which most other commands don't need
    )

    fields = {"engine": engine, "index": index, "fresh": fresh}
    wanted = IndexCheckImport(file, column=column, out=out, errors=errors, batch=batch, again=again, fields=fields)
    run_import(wanted, url, data, dry_run=dry_run)
