"""`pressroom try`: what the engines of this machine make of your own files, without a service or credits."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from capabilities.alt_text.settings import CaptioningSettings
from pipeline.errors import InvalidRequest
from scripts.commands import SYSTEM, under
from scripts.options import Data, settings_for
from scripts.terminal import show_table, tell
from workers.engines.family import Family

group = typer.Typer(name="try", no_args_is_help=True, help="Try the engines on your own files.")


@group.callback()
def tries() -> None:
    """Try the engines on your own files."""


@group.command()
def captioning(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="A folder with pictures.")],
    mode: Annotated[Literal["short", "long", "seo"], typer.Option(help="Which text.")] = "short",
    language: Annotated[str, typer.Option(help="Language of the texts.")] = "en",
    engine: Annotated[str | None, typer.Option(help="One engine; by default all that are ready.")] = None,
    page: Annotated[Path, typer.Option(help="File for the page with pictures and texts.")] = Path("captions.html"),
    data: Data = None,
) -> None:
    """Print picture, text, seconds and confidence, and write an HTML page with pictures and texts side by side."""
    # Here, as it loads numpy and Pillow.
    from capabilities.alt_text.commands.trial import HEAD, page_of, pictures_in, trials

    settings = settings_for(data)
    paths = pictures_in(folder)
    if not paths:
        raise InvalidRequest(f"There is no picture in {folder}.")
    family = Family(settings, "captioning")
    family.setup()
    engines = [one for one in family.engines if engine in (None, one.name) and language in one.languages()]
    if not engines:
        ready = ", ".join(one.name for one in family.engines)
        wanted = f"The engine {engine!r}" if engine else "An engine"
        raise InvalidRequest(f"{wanted} for {language!r} is not ready; ready: {ready}. `pressroom doctor` says more.")
    done = list(trials(paths, engines, mode=mode, language=language, limits=settings.of(CaptioningSettings)))
    show_table("Captions", list(HEAD), [cells for cells, _ in done])
    page.write_text(page_of(done, f"{folder.name}: {mode}, {language}"), "utf-8")
    tell(f"{page} shows the pictures beside their texts.")


register = under(SYSTEM, group)
