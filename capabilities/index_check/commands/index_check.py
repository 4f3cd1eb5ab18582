"""`pressroom import-csv check`."""

from pathlib import Path
from typing import Annotated

import typer

from capabilities.index_check.requests.request import MAX_URLS
from scripts.commands.import_csv import Again, Column, DryRun, Errors, run_import
from scripts.commands.import_csv import group as import_csv
from scripts.options import Data, ServiceUrl


def register(_: typer.Typer) -> None:
    """Do nothing: the command is in a shared group."""


@import_csv.command("check")
def import_urls(
    file: Annotated[Path, typer.Argument(metavar="URLS.csv")],
    column: Column = None,
    out: Annotated[Path | None, typer.Option(help="File for the results; by default FILE.results.csv.")] = None,
    errors: Errors = None,
    engine: Annotated[str | None, typer.Option(help="A search provider; by default the service's own order.")] = None,
    index: Annotated[str | None, typer.Option(help="The index that has to answer, such as google.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Reuse no earlier answer.")] = False,
    batch: Annotated[int, typer.Option(min=1, max=MAX_URLS, help="URLs of one job.")] = MAX_URLS,
    again: Again = False,
    dry_run: DryRun = False,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Check whether URLs are in search results. After a stop, the same command resumes."""
    # aiohttp, which most other commands don't need
    from capabilities.index_check.commands.sheet import IndexCheckImport

    fields = {"engine": engine, "index": index, "fresh": fresh}
    wanted = IndexCheckImport(file, column=column, out=out, errors=errors, batch=batch, again=again, fields=fields)
    run_import(wanted, url, data, dry_run=dry_run)
