"""`pressroom search-console` and `pressroom bing-webmaster`: access to what engines tell owners of their sites."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from capabilities.index_check.connecting import (
    ConnectedSite,
    connected_sites,
    connecting,
    find_sites,
    read_object,
    read_service_account,
    service_errors,
)
from capabilities.index_check.settings import SearchSettings
from capabilities.index_check.sites import connections, site_quota
from capabilities.index_check.sites.connections import BING_WEBMASTER, SEARCH_CONSOLE
from pipeline.database import Database, Statement
from pipeline.errors import InvalidRequest, NotFound
from pipeline.settings import Settings
from scripts.commands import ACCOUNTS, under
from scripts.identifiers import find_id
from scripts.options import Data, open_database, read_id, read_name, settings_for
from scripts.terminal import show_table, tell

MAX_BYTES = 100_000
#: Holds Bing's key. There is no option for it: other users of the machine can read the command line.
KEY_VARIABLE = "BING_WEBMASTER_KEY"

Account = Annotated[str | None, typer.Option("--account", help="The sites' account; by default the only one.")]
Name = Annotated[str | None, typer.Option(help="The connection's name, by default its owner; replaces the same name.")]
Sites = Annotated[list[str] | None, typer.Option("--site", help="Only this site; may be given several times.")]


def _group(service: str, about: str) -> typer.Typer:
    """Return a service's group of commands, with those that list and remove connections."""
    group = typer.Typer(name=service.replace("_", "-"), help=about, no_args_is_help=True)

    @group.command("list")
    def list_connected(data: Data = None) -> None:
        """List the connected sites and what is left of today's quota."""
        settings = settings_for(data)
        with open_database(data) as database:
            found = list_sites(database, settings, service)
        columns = ["connection", "account", "name", "site", "state"]
        lines = [
            (one.connection.id, one.connection.account_id, one.connection.name, one.site, one.state) for one in found
        ]
        show_table("Sites", columns, lines)

    @group.command()
    def disconnect(connection_id: str, data: Data = None) -> None:
        """Delete a connection and its credentials; earlier answers stay."""
        with open_database(data) as database:
            name = database.run(connections.disconnect(read_id(connection_id), service))
        if name is None:
            raise NotFound(f"There is no connection {connection_id}.")
        typer.echo(f"disconnected {name}")

    return group


search_console = _group(SEARCH_CONSOLE, "Connect Google Search Console, which knows what Google has indexed.")
bing_webmaster = _group(BING_WEBMASTER, "Connect Bing Webmaster Tools, which knows what Bing has crawled.")
register = under(ACCOUNTS, search_console, bing_webmaster)


@search_console.command("connect")
def connect_search_console(
    service_account: Annotated[
        Path | None, typer.Option(help="The JSON key of a service account that is a user of the properties.")
    ] = None,
    client: Annotated[
        Path | None, typer.Option(help="Or the JSON of an OAuth client (desktop app); you consent in a browser.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port that the browser returns to; 0: any.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the browser here.")] = True,
    account: Account = None,
    name: Name = None,
    site: Sites = None,
    data: Data = None,
) -> None:
    """Store access to Search Console, encrypted, for an account's index checks. Run it again to renew the access."""
    if (service_account is None) == (client is None):
        raise InvalidRequest("Name one access: --service-account KEY.json, or --client CLIENT.json.")
    if service_account is not None:
        credentials = read_service_account(_read(service_account))
    else:
        from capabilities.index_check.engines.search.owners.google_access import consent

        assert client is not None  # noqa: S101  one of both is given
        with service_errors():
            search = settings_for(data).of(SearchSettings)
            credentials = consent(read_object(_read(client)), search, port=port, open_browser=browser)
    _keep(SEARCH_CONSOLE, credentials, data=data, account=account, name=name, wanted=site or [])


@bing_webmaster.command("connect")
def connect_bing_webmaster(
    account: Account = None,
    name: Name = None,
    site: Sites = None,
    ask: Annotated[bool, typer.Option(help=f"Ask for the key where {KEY_VARIABLE} is not set.")] = True,
    data: Data = None,
) -> None:
    """Store a key of Bing Webmaster Tools, encrypted, for an account's index checks."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key and ask:
        key = typer.prompt("Key (Settings, API access)", hide_input=True).strip()
    if not key:
        raise InvalidRequest(f"There is no key. Set {KEY_VARIABLE}.")
    _keep(BING_WEBMASTER, {"api_key": key}, data=data, account=account, name=name, wanted=site or [])


def list_sites(database: Database, settings: Settings, service: str | None = None) -> list[ConnectedSite]:
    """Return the connected sites of one service, or of all."""
    found = database.run(connections.list_connections(service=service))
    statuses = database.run(site_quota.list_site_statuses())
    return connected_sites(found, statuses, settings)


def _keep(
    service: str,
    credentials: dict[str, Any],
    *,
    data: Path | None,
    account: str | None,
    name: str | None,
    wanted: Sequence[str],
) -> None:
    """Store credentials, encrypted, for the wanted sites, or for all that they give access to.

    Raises InvalidRequest, NotReady."""
    settings = settings_for(data)
    with open_database(data) as database:
        account_id = _find_account(database, account)
        owner, kept = find_sites(settings, service, credentials, wanted)
        called = read_name(name) if name is not None else owner
        made = database.run(connecting(settings, account_id, service, called, credentials, kept))
        if made is None:
            raise NotFound(f"There is no account {account_id}. `pressroom accounts list` shows them.")
    typer.echo(f"connection {made}")
    for site in kept:
        typer.echo(f"site {site}")
    tell(f"Index checks of these sites' URLs now ask {owner} first.")


def _read(file: Path) -> bytes:
    """Return the beginning of a file. Raises InvalidRequest."""
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES)
    except OSError as error:
        raise InvalidRequest(f"{file} can't be read ({type(error).__name__}).") from error


def _find_account(database: Database, account: str | None) -> UUID:
    if account is not None:
        return find_id(database, "account", account)
    found: list[UUID] = database.run(
        Statement("SELECT id FROM account LIMIT 2", {}, lambda rows: [row["id"] for row in rows])
    )
    if len(found) != 1:
        raise InvalidRequest("Name the sites' account with --account; `pressroom accounts list` shows the accounts.")
    return found[0]
