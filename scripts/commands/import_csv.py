"""`pressroom import-csv`: sends the rows of a file to the service, and writes the results.

Capabilities add their commands to `group`."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.errors import InvalidRequest
from scripts.commands import SERVICE, under
from scripts.options import find_service
from scripts.terminal import tell

if TYPE_CHECKING:
    from scripts.imports.base import Import

group = typer.Typer(
    name="import-csv", help="Send the rows of a CSV or XLSX file, and save the results.", no_args_is_help=True
)
register = under(SERVICE, group)

#: Longest wait for the service's first answer.
FIRST_PATIENCE = timedelta(seconds=10)

Column = Annotated[
    str | None, typer.Option(help="The column's name; by default url, image_url or text, else the first.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count rows, faults and credits.")]
Again = Annotated[
    bool, typer.Option("--again", help="Keep the answers of the last run, and send only rows without one.")
]
Errors = Annotated[Path | None, typer.Option(help="File for faulty rows; by default FILE.errors.csv.")]


def run_import(wanted: "Import", url: str | None, data: Path | None, *, dry_run: bool) -> None:
    """Show an import's rows and cost, and run it unless `dry_run`."""
    estimate = wanted.estimate()
    faults = f", {estimate.faulty:,} faulty (see {wanted.errors})" if estimate.faulty else ""
    tell(f"rows: {estimate.rows:,}{faults}; credits: {estimate.credits:,}{wanted.price_note}")
    tell(f"column: {wanted.column_name}; --column NAME reads another")
    if dry_run:
        return
    if not estimate.rows:
        raise InvalidRequest(f"{wanted.sheet.file} has no row that can be sent.")
    try:
        asyncio.run(_carry_out(wanted, *find_service(url, data), estimate.credits))
    except KeyboardInterrupt:
        tell("stopped; run the same command to continue")
        raise typer.Exit(130) from None
    tell(f"results in {wanted.out}")
    if wanted.unanswered_rows:
        tell(f"rows without an answer: {wanted.unanswered_rows:,}; {wanted.reasons} says why")


async def _carry_out(wanted: "Import", url: str, key: str, credits: int) -> None:
    """Ask for the balance first, because a wrong address or key would otherwise fail only after an hour."""
    from pressroom import AsyncPressroom

    async with AsyncPressroom(key, url=url, patience=FIRST_PATIENCE) as client:
        left = (await client.usage()).credits_remaining
    if left < credits:
        tell(f"credits of the account: {left:,}; when they are spent, top up and run the same command to continue")
    await wanted.run(url, key)
