"""`pressroom accounts`: who signs in at the dashboard, and how."""

import sys
from datetime import timedelta
from typing import Annotated

import typer

from pipeline.accounts.sessions import make_token
from pipeline.accounts.sign_in import add_link, set_operator, set_password
from pipeline.settings import Settings
from scripts.commands import ACCOUNTS, under
from scripts.commands.accounts import group
from scripts.emails import find_account, run_with_email
from scripts.options import Data, open_database, settings_for
from scripts.system.control import find_system
from scripts.system.first_steps import sign_in_link

register = under(ACCOUNTS)  # the group of accounts, which has the commands, registers itself

Account = Annotated[str, typer.Argument(help="Its id or its e-mail.")]


@group.command("set-password")
def change_password(
    account: Account,
    email: Annotated[str | None, typer.Option(help="Also sets the e-mail.")] = None,
    data: Data = None,
) -> None:
    """Set the password for the dashboard, asked for or read from standard input; ends all sessions."""
    with open_database(data) as database:
        found = find_account(database, account)
        ended = run_with_email(database, found.account_id, email, set_password(found.account_id, _read_password()))
    typer.echo(f"password set; {ended} {'session' if ended == 1 else 'sessions'} ended")


@group.command("sign-in-link")
def make_sign_in_link(account: Account, data: Data = None) -> None:
    """Show a link that signs in at the dashboard, once."""
    settings = settings_for(data)
    hours = settings.dashboard.sign_in_link_hours
    token = make_token()
    with open_database(data) as database:
        found = find_account(database, account)
        database.run(add_link(found.account_id, token, lasts=timedelta(hours=hours)))
    typer.echo(sign_in_link(_address(settings), token))
    typer.echo(f"good once, and for {hours:g} hours", err=True)


@group.command()
def operator(
    account: Account,
    no_longer: Annotated[bool, typer.Option("--no-longer", help="Make it a plain account again.")] = False,
    data: Data = None,
) -> None:
    """Make an account an operator, who sees and changes what is of all accounts."""
    with open_database(data) as database:
        found = find_account(database, account)
        database.run(set_operator(found.account_id, is_operator=not no_longer))
    typer.echo("no longer an operator" if no_longer else "an operator")


def _read_password() -> str:
    if sys.stdin.isatty():
        typed: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
        return typed
    return sys.stdin.readline().rstrip("\r\n")


def _address(settings: Settings) -> str:
    """Return where the service is: its public address, or that of the system that runs here."""
    system = find_system(settings.data)
    own = system.address if system else f"http://{settings.api.host}:{settings.api.port}"
    return (settings.api.public_url or own).rstrip("/")
