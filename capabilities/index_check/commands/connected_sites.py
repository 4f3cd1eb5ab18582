"""`pressroom search-console`: access to what Google tells owners of their sites."""

from pathlib import Path
from typing import Annotated

import typer

from capabilities.index_check.connecting import (
    ConnectedSite,
    connected_sites,
    connecting,
    find_sites,
    read_service_account,
)
from capabilities.index_check.sites import connections, site_quota
from pipeline.database import Database
from pipeline.errors import InvalidRequest, NotFound
from pipeline.settings import Settings
from scripts.commands import ACCOUNTS, under
from scripts.identifiers import find_account
from scripts.options import Data, open_database, read_id, read_name, settings_for
from scripts.terminal import show_table, tell

MAX_BYTES = 100_000

group = typer.Typer(
    name="search-console",
    help="Connect Google Search Console, which knows what Google has indexed.",
    no_args_is_help=True,
)
register = under(ACCOUNTS, group)


@group.command("list")
def list_connected(data: Data = None) -> None:
    """List the connected sites and what is left of today's quota."""
    settings = settings_for(data)
    with open_database(data) as database:
        found = list_sites(database, settings)
    columns = ["connection", "account", "name", "site", "state"]
    lines = [(one.connection.id, one.connection.account_id, one.connection.name, one.site, one.state) for one in found]
    show_table("Sites", columns, lines)


@group.command()
def disconnect(connection_id: str, data: Data = None) -> None:
    """Delete a connection and its credentials; earlier answers stay."""
    with open_database(data) as database:
        name = database.run(connections.disconnect(read_id(connection_id)))
    if name is None:
        raise NotFound(f"There is no connection {connection_id}.")
    typer.echo(f"disconnected {name}")


@group.command()
def connect(
    service_account: Annotated[
        Path, typer.Option(help="The JSON key of a service account that is a user of the properties.")
    ],
    account: Annotated[
        str | None, typer.Option("--account", help="The sites' account; by default the only one.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The connection's name, by default its owner; replaces the same name.")
    ] = None,
    site: Annotated[
        list[str] | None, typer.Option("--site", help="Only this site; may be given several times.")
    ] = None,
    data: Data = None,
) -> None:
    """Store access to Search Console, encrypted, for an account's index checks. Run it again to renew the access."""
    settings = settings_for(data)
    credentials = read_service_account(_read(service_account))
    with open_database(data) as database:
        account_id = find_account(database, account)
        owner, kept = find_sites(settings, credentials, site or [])
        called = read_name(name) if name is not None else owner
        made = database.run(connecting(settings, account_id, called, credentials, kept))
    typer.echo(f"connection {made}")
    for listed in kept:
        typer.echo(f"site {listed}")
    tell(f"Index checks of these sites' URLs now ask {owner} first.")


def list_sites(database: Database, settings: Settings) -> list[ConnectedSite]:
    """Return the connected sites of all accounts."""
    found = database.run(connections.list_connections())
    statuses = database.run(site_quota.list_site_statuses())
    return connected_sites(found, statuses, settings)


def _read(file: Path) -> bytes:
    """Return the beginning of a file. Raises InvalidRequest."""
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES)
    except OSError as error:
        raise InvalidRequest(f"{file} can't be read ({type(error).__name__}).") from error
