"""`pressroom keys`: the secrets of accounts, and those that links to files are signed with."""

import json
from typing import Annotated

import typer
from psycopg.errors import ForeignKeyViolation

from pipeline import keys, links
from pipeline.errors import NotFound
from scripts.commands import ACCOUNTS, under
from scripts.options import Data, list_rows, open_database, read_id, read_name
from scripts.terminal import show_table

group = typer.Typer(name="keys", help="Create, list and revoke API keys.", no_args_is_help=True)
register = under(ACCOUNTS, group)


@group.command()
def create(
    account_id: str,
    name: Annotated[str, typer.Option(help="What the key is for.")] = "unnamed",
    as_json: Annotated[bool, typer.Option("--json", help="Print key_id and api_key as JSON.")] = False,
    data: Data = None,
) -> None:
    """Give an account another key, shown once."""
    key = keys.make_key()
    with open_database(data) as database:
        try:
            database.run(keys.add_key(read_id(account_id), key, read_name(name)))
        except ForeignKeyViolation as error:
            raise NotFound(f"There is no account {account_id}. `pressroom accounts list` shows them.") from error
    if as_json:
        typer.echo(json.dumps({"key_id": str(key.id), "api_key": key.secret}))
    else:
        typer.echo(f"key     {key.id}\napi key {key.secret}  (shown once)")


@group.command("list")
def list_keys(account_id: str, data: Data = None) -> None:
    """List the keys of an account."""
    sql = "SELECT id, name, hint, created_at, last_used_at, revoked_at FROM api_key WHERE account_id = %(account)s"
    rows = [
        (key_id, name, f"…{hint}", *(f"{moment:%Y-%m-%d %H:%M}" if moment else None for moment in moments))
        for key_id, name, hint, *moments in list_rows(data, sql, account=read_id(account_id))
    ]
    show_table("Keys", ["id", "name", "ends in", "created", "last used", "revoked"], rows)


@group.command()
def revoke(key_id: str, data: Data = None) -> None:
    """Refuse a key from now on."""
    with open_database(data) as database:
        found = database.run(keys.revoke_key(read_id(key_id)))
    if found is None:
        raise NotFound(f"There is no key {key_id}. `pressroom keys list ACCOUNT` shows them.")
    typer.echo(f"revoked {found['name']}; processes that have it cached refuse it within seconds")


@group.command("rotate-links")
def rotate_links(
    forget: Annotated[
        bool, typer.Option("--forget", help="Also end all links that there are: a secret got out.")
    ] = False,
    data: Data = None,
) -> None:
    """Sign links to files with a new secret; those that there are stay good until they expire."""
    with open_database(data) as database:
        number = database.run(links.add_next_key())
        forgotten = database.run(links.delete_old_keys()) if forget else 0
    minutes = links.SETTLES_AFTER.total_seconds() / 60
    typer.echo(
        f"secret {number} signs {'within a minute' if forget else f'in {minutes:.0f} minutes, when all know it'}"
    )
    if forgotten:
        typer.echo("links signed until now answer 403 within a minute")
