"""`pressroom people`: who is in an account, in which role."""

from datetime import timedelta
from typing import Annotated

import typer

from pipeline.accounts.audit import Actor
from pipeline.accounts.people import invite as invite_person
from pipeline.accounts.roles import Role
from pipeline.accounts.sessions import make_token, read_email
from pipeline.errors import Conflict
from scripts.commands import ACCOUNTS, under
from scripts.commands.accounts import Account, address_of
from scripts.identifiers import find_account
from scripts.options import Data, list_rows, open_database, settings_for
from scripts.terminal import show_table

group = typer.Typer(name="people", help="List and invite the people of an account.", no_args_is_help=True)
register = under(ACCOUNTS, group)


@group.command("list")
def list_people(account: Account, data: Data = None) -> None:
    """List the people of an account with their roles, who joined first first."""
    sql = (
        "SELECT p.id, p.name, p.email, m.role, m.created_at FROM membership m JOIN person p ON p.id = m.person_id"
        " WHERE m.account_id = %(account)s ORDER BY m.created_at, p.id"
    )
    with open_database(data) as database:
        found = find_account(database, account)
    rows = [(*others, f"{joined:%Y-%m-%d %H:%M}") for *others, joined in list_rows(data, sql, account=found)]
    show_table("People", ["id", "name", "e-mail", "role", "joined"], rows)


@group.command()
def invite(
    account: Account,
    email: Annotated[str, typer.Argument(help="The e-mail that the link is for.")],
    role: Annotated[Role, typer.Option(help="What they may do.")] = Role.EDITOR,
    data: Data = None,
) -> None:
    """Show a link with which somebody joins an account, once."""
    settings, token, wanted = settings_for(data), make_token(), read_email(email)
    lasts = timedelta(days=settings.dashboard.invitation_days)
    with open_database(data) as database:
        actor = Actor(find_account(database, account))
        *_, invited = database.run_together(invite_person(actor, wanted, role, token, lasts=lasts))
    if not invited:
        raise Conflict(f"{wanted} is in this account already.")
    typer.echo(f"{address_of(settings)}/dashboard/invitation?token={token}")
    typer.echo(f"works once, for {settings.dashboard.invitation_days:g} days", err=True)
