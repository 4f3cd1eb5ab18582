"""`pressroom describe`: the texts of pictures on the web, over the HTTP API."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pipeline.kinds.alt_text.batch import MAX_IMAGES
from scripts.options import Data, plain

Mode = Literal["short", "long", "seo", "all"]


def describe(
    urls: Annotated[list[str], typer.Argument(metavar="IMAGE_URL…", help="Where the pictures are.")],
    mode: Annotated[Mode, typer.Option(help="Which text; all shows the three, for the same credit.")] = "short",
    language: Annotated[str | None, typer.Option(help="Language code such as en, es, fr.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each result as a line of JSON.")] = False,
    url: Annotated[str | None, typer.Option(help="The service; by default the one that runs here.")] = None,
    data: Data = None,
) -> None:
    """Describe pictures by their URLs; exit code 1 when one could not be."""
    from scripts.client import service_key, service_url  # aiohttp, which most other commands don't need

    wanted = {"mode": mode, **({"language": language} if language else {})}
    images = [{"image_url": image_url, **wanted} for image_url in urls]
    results = asyncio.run(_describe(service_url(url, data), service_key(data), images))
    for result in results:
        if as_json:
            typer.echo(json.dumps(result, ensure_ascii=False))
        elif result["alt_text"] is not None:
            typer.echo(_line(result, mode, is_only=len(results) == 1))
    failed = [result for result in results if result["alt_text"] is None]
    console = Console(stderr=True, soft_wrap=True)
    for result in failed:
        console.print(plain(f"{result['image_url']}: {result.get('message')}"), highlight=False)
    if failed:
        raise typer.Exit(1)


def _line(result: Mapping[str, Any], mode: Mode, *, is_only: bool) -> str:
    """Return a picture's text as a line; its URL goes before it where there are several, separated by a tab."""
    texts = [f"{name}_alt_text" for name in ("short", "long", "seo")] if mode == "all" else ["alt_text"]
    before = [] if is_only else [result["image_url"]]
    return "\n".join("\t".join([*before, result[name]]) for name in texts)


async def _describe(url: str, key: str, images: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    from scripts.client import Client
    from scripts.imports.images import follow_images, submit_images

    columns = (TextColumn("describing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    results: list[dict[str, Any]] = []
    async with Client.open(url, key) as client:
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            shown = bar.add_task("", total=len(images))
            for first in range(0, len(images), MAX_IMAGES):
                some = images[first : first + MAX_IMAGES]

                def progress(share: float, first: int = first, count: int = len(some)) -> None:
                    bar.update(shown, completed=first + round(share * count))

                job_id = await submit_images(client, some)
                await follow_images(client, job_id, progress)
                results += (await client.get(f"/jobs/{job_id}/result"))["results"]
    return results
