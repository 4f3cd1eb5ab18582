"""`pressroom import-csv`: the rows of a CSV file through the HTTP API, and the results back as files."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from pipeline.errors import InvalidRequest
from pipeline.kinds.alt_text.batch import MAX_IMAGES
from pipeline.kinds.index_check.check import MAX_URLS
from scripts.commands.describe import Mode
from scripts.options import Data, plain

app = typer.Typer(help="Send the rows of a CSV file, and get the results back.", no_args_is_help=True)

#: How long a service may take to say anything at all.
FIRST_PATIENCE = timedelta(seconds=10)

Column = Annotated[
    str | None, typer.Option(help="The column's name; by default url, image_url or text, or else the first.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count rows, faults and credits.")]
Errors = Annotated[Path | None, typer.Option(help="Where faulty rows go; by default FILE.errors.csv.")]
Url = Annotated[str | None, typer.Option(help="The service; by default the one that runs here.")]


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="URLS.csv")],
    column: Column = None,
    out: Annotated[Path | None, typer.Option(help="Where the results go; by default FILE.results.csv.")] = None,
    errors: Errors = None,
    engine: Annotated[str | None, typer.Option(help="A search provider; by default the service's own order.")] = None,
    batch: Annotated[int, typer.Option(min=1, max=MAX_URLS, help="URLs of one job.")] = MAX_URLS,
    dry_run: DryRun = False,
    url: Url = None,
    data: Data = None,
) -> None:
    """Check whether URLs are in search results; stopped, the same command goes on where it was."""
    from scripts.imports.urls import UrlImport  # aiohttp, which most other commands don't need

    wanted = UrlImport(
        file,
        column=column,
        out=out or file.with_suffix(".results.csv"),
        errors=errors or file.with_suffix(".errors.csv"),
        batch=batch,
        fields={"engine": engine} if engine else {},
    )
    _run(wanted, url, data, dry_run=dry_run)


@app.command("alt-text")
def alt_text(
    file: Annotated[Path, typer.Argument(metavar="IMAGES.csv")],
    column: Column = None,
    out: Annotated[Path | None, typer.Option(help="Where the texts go; by default FILE.results.csv.")] = None,
    errors: Errors = None,
    mode: Annotated[Mode, typer.Option(help="Which text; all gives the three, for the same credit.")] = "short",
    language: Annotated[str | None, typer.Option(help="Language code such as en, es, fr.")] = None,
    batch: Annotated[int, typer.Option(min=1, max=MAX_IMAGES, help="Images of one request.")] = MAX_IMAGES,
    dry_run: DryRun = False,
    url: Url = None,
    data: Data = None,
) -> None:
    """Describe pictures by their URLs; stopped, the same command goes on where it was."""
    from scripts.imports.images import ImageImport

    wanted = ImageImport(
        file,
        column=column,
        out=out or file.with_suffix(".results.csv"),
        errors=errors or file.with_suffix(".errors.csv"),
        batch=batch,
        fields={"mode": mode, **({"language": language} if language else {})},
    )
    _run(wanted, url, data, dry_run=dry_run)


@app.command()
def speech(
    file: Annotated[Path, typer.Argument(metavar="TEXTS.csv")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the MP3s go, named by their line.")],
    column: Column = None,
    header: Annotated[
        bool | None, typer.Option(help="Whether the first row names the columns; by default if one is text.")
    ] = None,
    errors: Errors = None,
    language: Annotated[str | None, typer.Option(help="Language code such as en, es, fr.")] = None,
    voice: Annotated[str | None, typer.Option(help="A voice of GET /tts/voices.")] = None,
    dry_run: DryRun = False,
    url: Url = None,
    data: Data = None,
) -> None:
    """Speak texts, an MP3 a row; stopped, the same command goes on where it was."""
    from scripts.imports.speech import SpeechImport

    fields = {name: value for name, value in (("language", language), ("voice_name", voice)) if value}
    wanted = SpeechImport(
        file,
        column=column,
        has_header=header,
        out=out,
        errors=errors or file.with_suffix(".errors.csv"),
        fields=fields,
    )
    if header is None and not wanted.sheet.has_header:
        # Nothing tells a name from a text, and a text that is spoken is paid for.
        _say("the first row counts as a text; --header if it names the columns")
    _run(wanted, url, data, dry_run=dry_run)


def _run(wanted: Any, url: str | None, data: Path | None, *, dry_run: bool) -> None:
    from scripts.client import service_key, service_url

    estimate = wanted.estimate()
    faults = f", {estimate.faulty:,} faulty (see {wanted.errors})" if estimate.faulty else ""
    _say(f"rows: {estimate.rows:,}{faults}; credits: {estimate.credits:,}")
    if estimate.faulty and not estimate.rows:
        _say(f"column {wanted.sheet.index + 1} was read; --column NAME names another")
    if dry_run:
        return
    if not estimate.rows:
        raise InvalidRequest(f"{wanted.sheet.file} has no row that can be sent.")
    try:
        asyncio.run(_carry_out(wanted, service_url(url, data), service_key(data), estimate.credits))
    except KeyboardInterrupt:
        _say("stopped; the same command goes on where it was")
        raise typer.Exit(130) from None
    _say(f"results in {wanted.out}")
    if wanted.unanswered_rows:
        _say(f"rows without an answer: {wanted.unanswered_rows:,}; {wanted.reasons} says why")


def _say(text: str) -> None:
    # Names of files come from users: brackets in them are no markup.
    Console(stderr=True, soft_wrap=True).print(plain(text))


async def _carry_out(wanted: Any, url: str, key: str, credits: int) -> None:
    """Ask for the balance first: a wrong address or key is told at once, where a running import waits for an hour."""
    from scripts.client import Client

    async with Client.open(url, key, patience=FIRST_PATIENCE) as client:
        left = await client.balance()
    if left < credits:
        _say(f"credits of the account: {left:,}; when they are spent, the same command goes on after a top-up")
    await wanted.run(url, key)
