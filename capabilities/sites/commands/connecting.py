"""`pressroom site add`, `list` and `remove`."""

import asyncio
import os
from typing import Annotated
from uuid import UUID

import typer

from capabilities.sites import sites
from capabilities.sites.commands.group import group
from capabilities.sites.sites import Site
from pipeline.accounts.audit import Action, Actor, noted
from pipeline.database import Database, Statement
from pipeline.errors import InvalidRequest, NotFound
from scripts.identifiers import find_id
from scripts.options import Data, open_database, read_name, settings_for
from scripts.terminal import show_table, tell

#: Holds the password. There is no option for it: other users of the machine can read the command line.
PASSWORD_VARIABLE = "SITE_PASSWORD"  # noqa: S105

Account = Annotated[str | None, typer.Option("--account", help="The site's account; by default the only one.")]
Name = Annotated[str, typer.Argument(help="The site's name, or the beginning of it.")]


@group.command()
def add(
    url: Annotated[str, typer.Argument(help="Its home page; without --user and --ghost, its feed or sitemap.")],
    user: Annotated[str, typer.Option(help="WordPress: the user of the application password.")] = "",
    ghost: Annotated[
        bool, typer.Option("--ghost", help="The site is Ghost. The command asks for an Admin API key.")
    ] = False,
    name: Annotated[str | None, typer.Option(help="Your name for it; by default its address.")] = None,
    account: Account = None,
    data: Data = None,
) -> None:
    """Add a WordPress or Ghost site, or update its password; or a feed or sitemap to watch. Passwords are encrypted."""
    settings, address = settings_for(data), sites.read_address(url)
    called = read_name(name) if name is not None else sites.name_of(address)
    connector, login = "feed", dict[str, str]()
    if ghost:
        connector, login = "ghost", {"password": _password("Admin API key (Settings, Integrations)")}
    elif user:
        asked = "Application password (Users, Profile, Application Passwords)"
        connector, login = "wordpress", {"user": user, "password": _password(asked)}
    with open_database(data) as database:
        owner = _find_account(database, account)
        facts, sealed = asyncio.run(sites.look_up(settings, connector, address, login))
        site_id, _ = database.run_together(
            sites.add_site(owner, called, connector, address, sealed, facts, Actor(owner))
        )
        if site_id is None:
            raise NotFound(f"There is no account {owner}. `pressroom accounts list` shows them.")
    typer.echo(f"site {called}")
    changes = ", ".join(facts.abilities) or "nothing (read only)"
    tell(f"{facts.title or called}{f', as {facts.user}' if facts.user else ''}. Can change: {changes}.")


@group.command("list")
def list_all(data: Data = None) -> None:
    """List the sites, and what Pressroom can change on each."""
    with open_database(data) as database:
        found = database.run(sites.list_sites())
    rows = [(one.name, one.url, one.known.user, ", ".join(one.known.abilities), one.account_id) for one in found]
    show_table("Sites", ["name", "address", "user", "can change", "account"], rows)


@group.command()
def remove(name: Name, data: Data = None) -> None:
    """Remove a site, its password and its runs from Pressroom. The site itself stays unchanged."""
    with open_database(data) as database:
        site = find_site(database, name)
        removal = sites.remove_site(site.id, site.account_id)
        database.run(noted(removal, Actor(site.account_id), Action.SITE_CHANGED, site.url, site="removed"))
    typer.echo(f"removed {site.name}")


def _password(asked: str) -> str:
    return os.environ.get(PASSWORD_VARIABLE, "").strip() or str(typer.prompt(asked, hide_input=True)).strip()


def find_site(database: Database, name: str) -> Site:
    """Return the site that a name means. Raises NotFound, InvalidRequest."""
    found = database.run(sites.list_sites())
    meant = [one for one in found if one.name == name] or [one for one in found if one.name.startswith(name)]
    if not meant:
        raise NotFound(f"There is no site {name!r}. `pressroom site list` shows them.")
    if len(meant) > 1:
        raise InvalidRequest(f"{name!r} could be {' or '.join(one.name for one in meant)}: type more of the name.")
    return meant[0]


def _find_account(database: Database, account: str | None) -> UUID:
    if account is not None:
        return find_id(database, "account", account)
    read: Statement[list[UUID]] = Statement(
        "SELECT id FROM account LIMIT 2", {}, lambda rows: [row["id"] for row in rows]
    )
    found = database.run(read)
    if len(found) != 1:
        raise InvalidRequest("Choose the site's account with --account; `pressroom accounts list` shows them.")
    return found[0]
