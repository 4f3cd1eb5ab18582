"""`pressroom accounts`: who pays, and who signs in to the dashboard."""

import json
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
from psycopg.errors import CheckViolation, NumericValueOutOfRange, UniqueViolation

from pipeline import lifecycle
from pipeline.accounts import accounts
from pipeline.accounts.accounts import TIERS
from pipeline.accounts.audit import Action, Actor, note, noted
from pipeline.accounts.people import invite as invite_person
from pipeline.accounts.roles import Role
from pipeline.accounts.sessions import find_person, make_token, read_email
from pipeline.accounts.sign_in import add_link, set_email, set_operator, set_password
from pipeline.database import Database, Statement
from pipeline.errors import Conflict, InvalidRequest
from pipeline.factors.held import reset_factors
from pipeline.settings import Settings
from scripts.commands import ACCOUNTS, under
from scripts.identifiers import find_account
from scripts.identifiers import find_person as find_identified
from scripts.options import Data, list_rows, open_database, read_name, settings_for
from scripts.system.control import find_system
from scripts.system.first_steps import sign_in_link
from scripts.terminal import show_table

#: A balance is a PostgreSQL bigint.
MOST_CREDITS = 2**63 - 1

Account = Annotated[str, typer.Argument(help="Its id or name, or the e-mail of somebody in it.")]
Person = Annotated[str, typer.Argument(help="Their e-mail; or an account's id or name, for its first owner.")]

group = typer.Typer(name="accounts", help="Open, top up and list accounts.", no_args_is_help=True)
register = under(ACCOUNTS, group)


@group.command()
def create(
    name: Annotated[str, typer.Argument(help="A name for people.")],
    tier: Annotated[str, typer.Option(help=f"One of {', '.join(TIERS)}.")] = "free",
    credits: Annotated[int, typer.Option(min=0, help="Opening balance.")] = 0,
    email: Annotated[str | None, typer.Option(help="E-mail for signing in to the dashboard.")] = None,
    operator: Annotated[bool, typer.Option("--operator", help="May see and change all accounts.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print account_id and api_key as JSON.")] = False,
    data: Data = None,
) -> None:
    """Open an account; its key is shown once."""
    _check_credits(credits)
    _check_tier(tier)
    email = read_email(email) if email else None
    with open_database(data) as database:
        if email and database.run(find_person(email)):
            raise _email_taken(email)
        opened, opening = accounts.new_account(name=read_name(name), tier=tier, credits=credits)
        _run_with_email(database, opened.owner_id, email, [opening, set_operator(opened.id, is_operator=operator)])
    if as_json:
        typer.echo(json.dumps({"account_id": str(opened.id), "api_key": opened.key.secret}))
    else:
        typer.echo(f"account {opened.id}\napi key {opened.key.secret}  (shown once)")


@group.command("top-up", context_settings={"ignore_unknown_options": True})  # -500 is a number
def top_up(
    account_id: Account,
    credits: Annotated[int, typer.Argument(help="Credits to add; a negative number takes unspent ones back.")],
    note: Annotated[str | None, typer.Option(help="Kept in the ledger.")] = None,
    data: Data = None,
) -> None:
    """Add credits to an account."""
    _check_credits(credits)
    with open_database(data) as database:
        account = find_account(database, account_id)
        try:
            grant = lifecycle.grant_credits(account, credits, note and read_name(note))
            balance = database.run(noted(grant, Actor(account), Action.CREDITS_ADDED, f"{credits:,}"))
        except CheckViolation as error:
            raise InvalidRequest(f"The account has fewer than {-credits:,} credits to take back.") from error
        except NumericValueOutOfRange as error:
            raise InvalidRequest(f"The balance would exceed {MOST_CREDITS:,}, the most an account can have.") from error
    typer.echo(f"balance {balance:,}")


@group.command("set-tier")
def set_tier(
    account_id: Account, tier: Annotated[str, typer.Argument(help=f"One of {', '.join(TIERS)}.")], data: Data = None
) -> None:
    """Move an account to another tier; its limits change within seconds."""
    _check_tier(tier)
    with open_database(data) as database:
        account = find_account(database, account_id)
        database.run_together([lifecycle.change_tier(account, tier), _note(account, f"tier {tier}")])
    typer.echo(f"tier {tier}")


@group.command()
def suspend(account_id: Account, data: Data = None) -> None:
    """Refuse an account's requests from now on, and end its open jobs; nothing is deleted."""
    _suspend(account_id, data, suspended=True)


@group.command()
def resume(account_id: Account, data: Data = None) -> None:
    """Let a suspended account go on."""
    _suspend(account_id, data, suspended=False)


def _suspend(account_id: str, data: Path | None, *, suspended: bool) -> None:
    with open_database(data) as database:
        account, what = find_account(database, account_id), "suspended" if suspended else "resumed"
        database.run_together([lifecycle.suspend_account(account, suspended=suspended), _note(account, what)])
    typer.echo(what)


@group.command("list")
def list_accounts(data: Data = None) -> None:
    """List the accounts, newest last."""
    # New columns come last: programs read these by their place.
    sql = (
        "SELECT a.id, a.name, a.tier, a.available, a.created_at,"
        " (SELECT string_agg(p.email, ' ' ORDER BY m.created_at, p.id)"
        "  FROM membership m JOIN person p ON p.id = m.person_id WHERE m.account_id = a.id), a.is_operator"
        " FROM account a ORDER BY a.created_at"
    )
    rows = [
        (*others, f"{created_at:%Y-%m-%d %H:%M}", email, "yes" if is_operator else None)
        for *others, created_at, email, is_operator in list_rows(data, sql)
    ]
    show_table("Accounts", ["id", "name", "tier", "available", "created", "e-mail", "operator"], rows)


@group.command("set-password")
def change_password(
    account: Person, email: Annotated[str | None, typer.Option(help="Also sets the e-mail.")] = None, data: Data = None
) -> None:
    """Set a person's password for the dashboard, typed or read from standard input; ends all their sessions."""
    with open_database(data) as database:
        found = find_identified(database, account)
        noting = note(Actor(found.account_id), Action.PASSWORD_CHANGED, account)
        ended = _run_with_email(database, found.id, email, [noting, *set_password(found.id, _read_password())])
    typer.echo(f"password set; {ended} {'session' if ended == 1 else 'sessions'} ended")


@group.command("sign-in-link")
def make_sign_in_link(account: Person, data: Data = None) -> None:
    """Show a link that signs a person in to the dashboard, once."""
    settings = settings_for(data)
    hours = settings.dashboard.sign_in_link_hours
    token = make_token()
    with open_database(data) as database:
        person = find_identified(database, account)
        link = add_link(person.account_id, token, lasts=timedelta(hours=hours), person_id=person.id)
        database.run_together([link, _note(person.account_id, "sign-in link")])
    typer.echo(sign_in_link(_address(settings), token))
    typer.echo(f"works once, for {hours:g} hours", err=True)


@group.command()
def operator(
    account: Account,
    no_longer: Annotated[bool, typer.Option("--no-longer", help="Make it a plain account again.")] = False,
    data: Data = None,
) -> None:
    """Make an account an operator's: its owners may see and change all accounts."""
    with open_database(data) as database:
        found, what = find_account(database, account), "no longer an operator" if no_longer else "an operator"
        database.run_together([set_operator(found, is_operator=not no_longer), _note(found, what)])
    typer.echo(what)


@group.command("reset-factors")
def reset(person: Person, data: Data = None) -> None:
    """Remove a person's app, passkeys, recovery codes and link to a provider; their password alone signs them in."""
    with open_database(data) as database:
        found = find_identified(database, person)
        noting = note(Actor(found.account_id), Action.FACTORS_RESET, person)
        _, has_app, passkeys, codes, *_, ended = database.run_together([noting, *reset_factors(found.id)])
    typer.echo(f"removed: {int(has_app)} app, {passkeys} passkeys, {codes} recovery codes; {ended} sessions ended")


@group.command("people")
def list_people(account: Account, data: Data = None) -> None:
    """List the people of an account with their roles, oldest first."""
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
    typer.echo(f"{_address(settings)}/dashboard/invitation?token={token}")
    typer.echo(f"works once, for {settings.dashboard.invitation_days:g} days", err=True)


def _note(account_id: UUID, what: str) -> Statement[None]:
    return note(Actor(account_id), Action.ACCOUNT_CHANGED, what)


def _run_with_email(database: Database, person_id: UUID, email: str | None, changes: Sequence[Statement[Any]]) -> Any:
    """Make changes and set a person's e-mail, if any, in one transaction; returns the last change's result.

    Raises Conflict when another person has the e-mail."""
    setting = [set_email(person_id, email)] if email else []
    try:
        return database.run_together([*changes, *setting])[len(changes) - 1]
    except UniqueViolation as error:
        raise _email_taken(email or "") from error


def _email_taken(email: str) -> Conflict:
    return Conflict(f"Another person has the e-mail {email}. `pressroom accounts list` shows them.")


def _read_password() -> str:
    if sys.stdin.isatty():
        typed: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
        return typed
    return sys.stdin.readline().rstrip("\r\n")


def _address(settings: Settings) -> str:
    """Return the service's public address, or that of the system that runs here."""
    system = find_system(settings.data)
    own = system.address if system else f"http://{settings.api.host}:{settings.api.port}"
    return (settings.api.public_url or own).rstrip("/")


def _check_tier(tier: str) -> None:
    if tier not in TIERS:
        raise InvalidRequest(f"There is no tier {tier!r}; choose {', '.join(TIERS)}.")


def _check_credits(credits: int) -> None:
    if abs(credits) > MOST_CREDITS:
        raise InvalidRequest(f"{credits:,} credits are too many: an account has at most {MOST_CREDITS:,}.")
