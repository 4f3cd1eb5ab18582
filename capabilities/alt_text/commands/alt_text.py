"""Commands for alt text, over the HTTP API: `pressroom describe` and `pressroom import-csv alt-text`."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from capabilities.alt_text.kinds.batch import MAX_IMAGES
from pressroom.errors import Refused
from scripts.commands import SERVICE, under
from scripts.commands.import_csv import Again, Column, DryRun, Errors, run_import
from scripts.commands.import_csv import group as import_csv
from scripts.options import Data, Language, ServiceUrl
from scripts.service import JobBar, ask_service
from scripts.terminal import tell

if TYPE_CHECKING:
    from pressroom import Pressroom

Mode = Literal["short", "long", "seo", "all"]
#: Refusals of one picture; others, as of the key, are those of all.
OF_PICTURE = frozenset({400, 413})


def describe(
    pictures: Annotated[list[str], typer.Argument(metavar="IMAGE…", help="Files, or URLs of pictures.")],
    mode: Annotated[Mode, typer.Option(help="Which text; all shows all three, for the same credit.")] = "short",
    language: Language = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print each result as a line of JSON.")] = False,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Describe pictures, which are files or URLs; exit code 1 when one could not be."""
    with ask_service(url, data) as client, JobBar(client, "describing", total=len(pictures)) as bar:
        results = list(_describe(client, pictures, mode, language, bar))
    for result in results:
        if as_json:
            typer.echo(json.dumps(result, ensure_ascii=False))
        elif result["alt_text"] is not None:
            typer.echo(_line(result, mode, is_only=len(results) == 1))
    for advice in dict.fromkeys(result["advice"] for result in results if result.get("advice")):
        tell(advice)
    failed = [result for result in results if result["alt_text"] is None]
    for result in failed:
        tell(f"{result['image_url']}: {result.get('message')}")
    if failed:
        raise typer.Exit(1)


def _is_url(picture: str) -> bool:
    return picture.lower().startswith(("http://", "https://"))


def _describe(
    client: "Pressroom", pictures: Sequence[str], mode: Mode, language: str | None, bar: JobBar
) -> Iterator[dict[str, Any]]:
    """Describe files one by one, and URLs many at a time; yields the results in the order of the pictures."""
    found: dict[str, dict[str, Any]] = {}
    urls = list(dict.fromkeys(filter(_is_url, pictures)))
    for first in range(0, len(urls), MAX_IMAGES):
        some = urls[first : first + MAX_IMAGES]
        bar.begin(len(some))
        for result in client.describe_batch(some, mode=mode, language=language, progress=bar.show):
            found[result.image_url] = result.to_dict()
    for picture in pictures:
        if picture not in found:
            bar.begin(1)
            found[picture] = {**_describe_file(client, picture, mode, language, bar), "image_url": picture}
        yield found[picture]


def _describe_file(client: "Pressroom", file: str, mode: Any, language: str | None, bar: JobBar) -> dict[str, Any]:
    path = Path(file)
    if not path.is_file():
        return {"alt_text": None, "message": "there is no such file; a URL begins with http:// or https://"}
    try:
        if mode == "all":
            picture = f"data:;base64,{base64.b64encode(path.read_bytes()).decode()}"
            (of_batch,) = client.describe_batch([picture], mode=mode, language=language, progress=bar.show)
            return of_batch.to_dict()
        result = client.describe(path, mode=mode, language=language, progress=bar.show)
    except Refused as error:
        if error.status not in OF_PICTURE:
            raise
        return {"alt_text": None, "code": error.code, "message": error.message}
    return result.to_dict()


def _line(result: Mapping[str, Any], mode: Mode, *, is_only: bool) -> str:
    """Return a line for each text of a picture; with several pictures, each line begins with its name and a tab."""
    texts = [f"{name}_alt_text" for name in ("short", "long", "seo")] if mode == "all" else ["alt_text"]
    before = [] if is_only else [result["image_url"]]
    after = " (draft)" if result.get("draft") else ""
    return "\n".join("\t".join([*before, result[name] + after]) for name in texts)


@import_csv.command("alt-text")
def import_images(
    file: Annotated[Path, typer.Argument(metavar="IMAGES.csv")],
    column: Column = None,
    out: Annotated[Path | None, typer.Option(help="File for the texts; by default FILE.results.csv.")] = None,
    errors: Errors = None,
    mode: Annotated[Mode, typer.Option(help="Which text; all gives the three, for the same credit.")] = "short",
    language: Language = None,
    batch: Annotated[int, typer.Option(min=1, max=MAX_IMAGES, help="Images of one request.")] = MAX_IMAGES,
    again: Again = False,
    dry_run: DryRun = False,
    url: ServiceUrl = None,
    data: Data = None,
) -> None:
    """Describe pictures by their URLs; stopped, the same command goes on where it was."""
    from capabilities.alt_text.commands.sheet import AltTextImport

    fields = {"mode": mode, "language": language}
    wanted = AltTextImport(file, column=column, out=out, errors=errors, batch=batch, again=again, fields=fields)
    run_import(wanted, url, data, dry_run=dry_run)


register = under(SERVICE, describe)
