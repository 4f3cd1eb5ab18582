"""`pressroom pause` and `resume`: stop the work of a queue, a kind, a provider or an account, and let it go on."""

from typing import Annotated

import typer

from pipeline.database import Database
from pipeline.operations import pauses
from pipeline.registry import load_kinds
from scripts.commands import SYSTEM, under
from scripts.identifiers import find_account
from scripts.options import Data, open_database, settings_for
from scripts.terminal import readable, show_table

SCOPE = typer.Argument(help=f"One of {', '.join(pauses.PAUSE_SCOPES)}.")
NAME = typer.Argument(help="Its name; an account's name, e-mail or id.")


def pause(
    scope: Annotated[str | None, SCOPE] = None,
    name: Annotated[str | None, NAME] = None,
    reason: Annotated[str, typer.Option(help="Shown to operators.")] = "",
    data: Data = None,
) -> None:
    """Stop a queue, kind, provider or account until `pressroom resume`; without arguments, list what is paused.

    Items that run finish. Jobs still end at their deadlines."""
    settings = settings_for(data)
    with open_database(data) as database:
        if scope is None or name is None:
            _show(database.run(pauses.read_pauses()))
            return
        found = _read_name(database, scope, name)
        providers = database.run(pauses.list_providers(settings))
        pauses.check_pause(load_kinds(settings), providers, scope, found, reason)
        is_new = database.run(pauses.pause(scope, found, reason))
    typer.echo("paused" if is_new else "was paused already")


def resume(scope: Annotated[str, SCOPE], name: Annotated[str, NAME], data: Data = None) -> None:
    """Let a paused queue, kind, provider or account go on."""
    with open_database(data) as database:
        was_paused = database.run(pauses.resume(scope, _read_name(database, scope, name)))
    typer.echo("resumed" if was_paused else "was not paused")


def _read_name(database: Database, scope: str, name: str) -> str:
    return str(find_account(database, name)) if scope == "account" else name


def _show(found: list[pauses.Pause]) -> None:
    rows = [(one.scope, one.title, one.name, readable(one.paused_at), one.reason) for one in found]
    show_table("Paused", ["what", "name", "id", "since", "reason"], rows)


register = under(SYSTEM, pause, resume)
