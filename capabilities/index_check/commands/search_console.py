"""`pressroom search-console`: index checks of one's own sites by Google's URL Inspection."""

from pathlib import Path
from typing import Annotated

import typer

from capabilities.index_check.commands import site_connections
from capabilities.index_check.commands.site_connections import Account, Name, Sites
from capabilities.index_check.sites.connections import SEARCH_CONSOLE
from pipeline.errors import InvalidRequest
from scripts.commands import ACCOUNTS, under
from scripts.options import Data, settings_for

HINT = "In Search Console, Settings, Users and permissions, add it as a user of the property, and connect again."

group = typer.Typer(
    name="search-console", help="Connect Google Search Console: it knows what is indexed.", no_args_is_help=True
)
register = under(ACCOUNTS, group)


@group.command()
def connect(
    service_account: Annotated[
        Path | None, typer.Option(help="The JSON key of a service account that is a user of the properties.")
    ] = None,
    client: Annotated[
        Path | None, typer.Option(help="Or the JSON of an OAuth client (desktop app): you consent in a browser.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Where the browser comes back to; 0: any.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the browser here.")] = True,
    account: Account = None,
    name: Name = None,
    site: Sites = None,
    data: Data = None,
) -> None:
    """Keep access to Search Console, encrypted, for an account's index checks; doing so again renews it."""
    if (service_account is None) == (client is None):
        raise InvalidRequest("Say which access: --service-account KEY.json, or --client CLIENT.json.")
    if service_account is not None:
        credentials = site_connections.read_json(service_account)
        kept = ("type", "client_email", "private_key", "private_key_id")
        credentials = {name: credentials[name] for name in kept if name in credentials}
    else:
        from capabilities.index_check.engines.search.owners.google_access import consent
        from capabilities.index_check.settings import SearchSettings

        assert client is not None  # noqa: S101  one of both is there
        with site_connections.service_errors():
            search = settings_for(data).of(SearchSettings)
            credentials = consent(site_connections.read_json(client), search, port=port, open_browser=browser)
    wanted = site or []
    site_connections.keep(SEARCH_CONSOLE, credentials, data=data, account=account, name=name, wanted=wanted, hint=HINT)


@group.command("list")
def list_sites(data: Data = None) -> None:
    """List the connected properties, with what is left of their quota today."""
    site_connections.show(SEARCH_CONSOLE, data)


@group.command()
def disconnect(connection_id: str, data: Data = None) -> None:
    """Forget a connection and its credentials; what it found out stays."""
    site_connections.forget(SEARCH_CONSOLE, connection_id, data)
