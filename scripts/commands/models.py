"""`pressroom models`: list, fetch, verify and remove models."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from pipeline.errors import InvalidRequest, NotReady, PressroomError
from scripts.commands import SYSTEM, under
from scripts.options import Data, settings_for
from scripts.terminal import show_table, tell
from workers.models.advice import command, recommended, wanted
from workers.models.catalogue import CatalogueModel, find_model
from workers.models.fetching import fetch as fetch_model
from workers.models.files import find_parts
from workers.models.machine import gigabytes, this_machine
from workers.models.store import ModelStore

group = typer.Typer(name="models", no_args_is_help=True, help="List, fetch, verify and remove models.")

#: Why a folder can't be verified.
UNKNOWN = "another program downloaded it, and the SHA-256 of some files is unknown"
#: More languages are counted, not listed.
MOST_LANGUAGES = 10

Names = Annotated[list[str], typer.Argument(help="Names of models; `pressroom models list` shows them.")]


@group.command("list")
def list_models(
    engine: Annotated[str | None, typer.Argument(help="An engine, such as piper, or a family; by default all.")] = None,
    data: Data = None,
) -> None:
    """List the models that engines can run: state, size, licence and use."""
    store = ModelStore(settings_for(data))
    uses = {model: (model.engine, model.family, *model.also) for model in store.catalogue.values()}
    listed = [model for model, names in uses.items() if engine is None or engine in names]
    if not listed:
        known = sorted({name for names in uses.values() for name in names})
        raise InvalidRequest(f"No model is for {engine!r}; there are models for {', '.join(known)}.")
    chosen = {model.name for model in recommended(store.catalogue.values(), this_machine())}
    rows = [
        [
            model.name,
            _state(store, model, is_chosen=model.name in chosen),
            model.engine,
            _languages(model),
            gigabytes(model.size_bytes),
            model.licence,
            model.gives,
        ]
        for model in listed
    ]
    show_table("Models", ["name", "state", "engine", "languages", "size", "licence", "gives"], rows)


@group.command()
def fetch(
    names: Annotated[list[str] | None, typer.Argument(help="Names of models.")] = None,
    wants_recommended: Annotated[
        bool, typer.Option("--recommended", help="Recommended models for this machine that are missing.")
    ] = False,
    data: Data = None,
) -> None:
    """Download models, resuming interrupted downloads; running pools adopt them.

    Exits with 1 if one fails; the others are fetched all the same."""
    settings = settings_for(data)
    store = ModelStore(settings)
    found = _find(store, names or [])
    if wants_recommended:
        found += [model for model in wanted(store) if model not in found]
    if not found:
        if not wants_recommended:
            raise InvalidRequest("Which models? Name some (`pressroom models list`), or pass --recommended.")
        tell("All recommended models are here.")
    faults = 0
    for model in found:
        try:
            folder = _fetch(store, model, settings.models.stall_seconds)
        except PressroomError as error:
            faults += 1
            tell(error.message, style="red")
            continue
        typer.echo(f"{model.name}\t{folder}")
    if faults:
        raise typer.Exit(1)


@group.command()
def verify(names: Names = [], data: Data = None) -> None:  # noqa: B006 - typer wants a list
    """Check the SHA-256 of downloaded models; exit with 1 if one is damaged or unknown."""
    store = ModelStore(settings_for(data))
    here = _find(store, names) or [model for model in store.catalogue.values() if store.is_here(model)]
    faults = 0
    for model in here:
        try:
            folder = store.folder(model)
            if folder is not None and not store.is_known(model):
                raise NotReady(f"{model.name} can't be verified: {UNKNOWN}; {command([model])} downloads it again.")
        except NotReady as error:
            faults += 1
            tell(error.message, style="red")
            continue
        found = f"as it should be ({len(store.files(model))} files)" if folder else "not here"
        typer.echo(f"{model.name}\t{found}")
    if faults:
        raise typer.Exit(1)


@group.command()
def remove(names: Names, data: Data = None) -> None:
    """Delete downloaded models and unfinished downloads. Running processes keep loaded models."""
    store = ModelStore(settings_for(data))
    for model in _find(store, names):
        removed = [store.remove(model), store.discard(model)]
        # A copy assembled from packages would come back.
        if find_parts(model) is not None:
            tell(f"{model.name} comes with a package; pip uninstall removes it.")
        elif any(removed):
            typer.echo(f"{model.name}\tremoved")
        else:
            tell(f"{model.name} is not here.")


def _fetch(store: ModelStore, model: CatalogueModel, stall_seconds: float) -> Path | None:
    with _shown_progress(model) as show:
        return fetch_model(
            store,
            model,
            stall_seconds=stall_seconds,
            on_progress=show,
            on_wait=lambda: tell("Waiting for another process that downloads it."),
        )


def _find(store: ModelStore, names: Sequence[str]) -> list[CatalogueModel]:
    """Return the models of these names, each once. Raises ModelUnknown."""
    return [find_model(name, store.catalogue) for name in dict.fromkeys(names)]


def _languages(model: CatalogueModel) -> str:
    if len(model.languages) > MOST_LANGUAGES:
        return f"{len(model.languages)} languages"
    return ", ".join(model.languages) or "many"


def _state(store: ModelStore, model: CatalogueModel, *, is_chosen: bool) -> str:
    if store.is_here(model):
        return "here" if _is_known(store, model) else "here, can't be verified"
    lacks = this_machine().lacks(model.needs)
    return f"needs {lacks}" if lacks else "recommended" if is_chosen else ""


def _is_known(store: ModelStore, model: CatalogueModel) -> bool:
    try:
        return store.is_known(model)
    except NotReady:  # the lock file is damaged; verify says so
        return False


@contextmanager
def _shown_progress(model: CatalogueModel) -> Iterator[Callable[[int, int], None]]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(model.name, total=model.size_bytes or None)

        def show(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield show


register = under(SYSTEM, group)
