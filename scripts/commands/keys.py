"""`pressroom keys`: API keys, and the secrets that sign links to files."""

import json
from pathlib import Path
from typing import Annotated

import typer

from pipeline.accounts import keys
from pipeline.accounts.keys import MAX_CREDITS, MAX_REQUESTS
from pipeline.errors import InvalidRequest
from pipeline.lifecycle import PRIORITIES
from pipeline.registry import load_kinds
from pipeline.storage import links
from scripts.commands import ACCOUNTS, under
from scripts.identifiers import find_account, find_id, not_found
from scripts.options import Data, list_rows, open_database, read_name, settings_for
from scripts.terminal import show_table

group = typer.Typer(name="keys", help="Create, list and revoke API keys.", no_args_is_help=True)
register = under(ACCOUNTS, group)


@group.command()
def create(
    account_id: str,
    name: Annotated[str, typer.Option(help="A name for people.")] = "unnamed",
    rate: Annotated[
        int | None, typer.Option(min=1, max=MAX_REQUESTS, help="Requests a minute; by default the account's limit.")
    ] = None,
    credits_a_month: Annotated[
        int | None, typer.Option(min=0, max=MAX_CREDITS, help="Credits a calendar month (UTC); by default no limit.")
    ] = None,
    route: Annotated[
        list[str] | None, typer.Option(help="Allow only this path, such as /tts; may be given again.")
    ] = None,
    priority: Annotated[str, typer.Option(help=f"Priority of its requests: {', '.join(PRIORITIES)}.")] = "normal",
    as_json: Annotated[bool, typer.Option("--json", help="Print key_id and api_key as JSON.")] = False,
    data: Data = None,
) -> None:
    """Create a key, optionally with limits of its own; it is shown once."""
    if route:
        _check_routes(route, data)
    found = next((one for one in PRIORITIES if one == priority), None)
    if found is None:
        raise InvalidRequest(f"There is no priority {priority[:20]!r}; choose {', '.join(PRIORITIES)}.")
    limits = keys.KeyLimits(rate, credits_a_month, tuple(dict.fromkeys(route)) if route else None, found)
    key = keys.make_key()
    with open_database(data) as database:
        database.run(keys.add_key(find_account(database, account_id), key, read_name(name), limits))
    if as_json:
        typer.echo(json.dumps({"key_id": str(key.id), "api_key": key.secret}))
    else:
        typer.echo(f"key     {key.id}\napi key {key.secret}  (shown once)")


def _check_routes(routes: list[str], data: Path | None) -> None:
    from api.capabilities import load_routes  # imports falcon, which other commands don't need
    from api.openapi.document import describe_service, operations
    from api.services.key_routes import check_routes, limitable_routes

    document = describe_service(load_kinds(settings_for(data)), load_routes())
    check_routes(routes, limitable_routes(operations(document)))


@group.command("list")
def list_keys(account_id: str, data: Data = None) -> None:
    """List an account's keys and their limits."""
    sql = (
        "SELECT id, name, hint, requests_per_minute, credits_per_month, array_to_string(routes, ' ') AS routes,"
        " created_at, last_used_at, revoked_at FROM api_key WHERE account_id = %(account)s ORDER BY created_at, id"
    )
    with open_database(data) as database:
        found = find_account(database, account_id)
    rows = [
        (key_id, name, f"…{hint}", *limits, *(f"{at:%Y-%m-%d %H:%M}" if at else None for at in (made, used, revoked)))
        for key_id, name, hint, *limits, made, used, revoked in list_rows(data, sql, account=found)
    ]
    headings = ["id", "name", "ends in", "a minute", "credits a month", "routes", "created", "last used", "revoked"]
    show_table("Keys", headings, rows)


@group.command()
def revoke(key_id: str, data: Data = None) -> None:
    """Refuse a key from now on."""
    with open_database(data) as database:
        found = database.run(keys.revoke_key(find_id(database, "api_key", key_id)))
    if found is None:
        raise not_found("api_key", key_id)
    typer.echo(f"revoked {found['name']}; processes that have it cached refuse it within seconds")


@group.command("rotate-links")
def rotate_links(
    forget: Annotated[bool, typer.Option("--forget", help="Also invalidate all existing links, after a leak.")] = False,
    data: Data = None,
) -> None:
    """Sign links to files with a new secret; existing links work until they expire."""
    with open_database(data) as database:
        changes = [links.add_next_key(), *([links.delete_old_keys()] if forget else [])]
        number, *forgotten = database.run_together(changes)
    minutes = links.SETTLES_AFTER.total_seconds() / 60
    typer.echo(
        f"secret {number} signs {'within a minute' if forget else f'in {minutes:.0f} minutes, when all know it'}"
    )
    if any(forgotten):
        typer.echo("links signed until now answer 403 within a minute")
