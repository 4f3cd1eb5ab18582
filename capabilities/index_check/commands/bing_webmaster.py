"""`pressroom bing-webmaster`: what Bing knows of one's own sites, beside index checks."""

import os
from typing import Annotated

import typer

from capabilities.index_check.commands import site_connections
from capabilities.index_check.commands.site_connections import Account, Name, Sites
from capabilities.index_check.sites.connections import BING_WEBMASTER
from pipeline.errors import InvalidRequest
from scripts.commands import ACCOUNTS, under
from scripts.options import Data

#: Not an option: other users of the machine see the command line.
KEY_VARIABLE = "BING_WEBMASTER_KEY"
HINT = "Add the site in Bing Webmaster Tools, verify it, and connect again."

group = typer.Typer(
    name="bing-webmaster", help="Connect Bing Webmaster Tools: it knows what was crawled.", no_args_is_help=True
)
register = under(ACCOUNTS, group)


@group.command()
def connect(
    account: Account = None,
    name: Name = None,
    site: Sites = None,
    ask: Annotated[bool, typer.Option(help=f"Ask for the key, where {KEY_VARIABLE} is not set.")] = True,
    data: Data = None,
) -> None:
    """Keep a key of Bing Webmaster Tools, encrypted, for an account's index checks."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key and ask:
        key = typer.prompt("Key (Settings, API access)", hide_input=True).strip()
    if not key:
        raise InvalidRequest(f"Which key? Set {KEY_VARIABLE}.")
    credentials, wanted = {"api_key": key}, site or []
    site_connections.keep(BING_WEBMASTER, credentials, data=data, account=account, name=name, wanted=wanted, hint=HINT)


@group.command("list")
def list_sites(data: Data = None) -> None:
    """List the connected sites, with what is left of their quota today."""
    site_connections.show(BING_WEBMASTER, data)


@group.command()
def disconnect(connection_id: str, data: Data = None) -> None:
    """Forget a connection and its key; what it found out stays."""
    site_connections.forget(BING_WEBMASTER, connection_id, data)
