"""Commands for alt text, over the HTTP API: `pressroom describe` and `pressroom import-csv alt-text`."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pipeline.kinds.alt_text.batch import MAX_IMAGES
from scripts.commands import SERVICE, under
from scripts.commands.import_csv import Column, DryRun, Errors, run_import
from scripts.commands.import_csv import group as import_csv
from scripts.options import Data, Language, ServiceUrl, find_service
from scripts.terminal import progress_bar, tell

Mode = Literal["short", "long", "seo", "all"]


def describe(
    urls: Annotated[list[str], typer.Argument(metavar="IMAGE_URL…", help="Where the pictures are.")],
    mode: Annotated[Mode, typer.Option(help="Which text; all shows the three, for the same credit.")] = "short",
    language: Language = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each result as a line of JSON.")] = False,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Describe pictures by their URLs; exit code 1 when one could not be."""
    wanted = {"mode": mode, **({"language": language} if language else {})}
    images = [{"image_url": image_url, **wanted} for image_url in urls]
    results = asyncio.run(_describe(*find_service(url, data), images))
    for result in results:
        if as_json:
            typer.echo(json.dumps(result, ensure_ascii=False))
        elif result["alt_text"] is not None:
            typer.echo(_line(result, mode, is_only=len(results) == 1))
    failed = [result for result in results if result["alt_text"] is None]
    for result in failed:
        tell(f"{result['image_url']}: {result.get('message')}")
    if failed:
        raise typer.Exit(1)


def _line(result: Mapping[str, Any], mode: Mode, *, is_only: bool) -> str:
    """Return a line for each text of a picture; with several pictures, each line begins with the URL and a tab."""
    texts = [f"{name}_alt_text" for name in ("short", "long", "seo")] if mode == "all" else ["alt_text"]
    before = [] if is_only else [result["image_url"]]
    return "\n".join("\t".join([*before, result[name]]) for name in texts)


async def _describe(url: str, key: str, images: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    from scripts.client import Client

    results: list[dict[str, Any]] = []
    async with Client.open(url, key) as client:
        with progress_bar(transient=True) as bar:
            shown = bar.add_task("describing", total=len(images))
            for first in range(0, len(images), MAX_IMAGES):
                some = images[first : first + MAX_IMAGES]

                def progress(done: float, total: float, first: int = first) -> None:
                    bar.update(shown, completed=first + done)

                job_id = await client.submit("/batch", {"images": some})
                await client.wait(job_id, progress)
                results += (await client.get(f"/jobs/{job_id}/result"))["results"]
    return results


@import_csv.command("alt-text")
def import_images(
    file: Annotated[Path, typer.Argument(metavar="IMAGES.csv")],
    column: Column = None,
    out: Annotated[Path | None, typer.Option(help="Where the texts go; by default FILE.results.csv.")] = None,
    errors: Errors = None,
    mode: Annotated[Mode, typer.Option(help="Which text; all gives the three, for the same credit.")] = "short",
    language: Language = None,
    batch: Annotated[int, typer.Option(min=1, max=MAX_IMAGES, help="Images of one request.")] = MAX_IMAGES,
    dry_run: DryRun = False,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Describe pictures by their URLs; stopped, the same command goes on where it was."""
    from scripts.imports.alt_text import AltTextImport

    fields = {"mode": mode, "language": language}
    wanted = AltTextImport(file, column=column, out=out, errors=errors, batch=batch, fields=fields)
    run_import(wanted, url, data, dry_run=dry_run)


register = under(SERVICE, describe)
