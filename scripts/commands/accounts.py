"""`pressroom accounts`: who pays."""

import json
from pathlib import Path
from typing import Annotated

import typer
from psycopg.errors import CheckViolation, NumericValueOutOfRange

from pipeline import lifecycle
from pipeline.accounts import accounts
from pipeline.accounts.accounts import TIERS
from pipeline.accounts.sessions import find_owner, read_email
from pipeline.accounts.sign_in import set_operator
from pipeline.errors import InvalidRequest, NotFound
from scripts.commands import ACCOUNTS, under
from scripts.emails import email_taken, run_with_email
from scripts.identifiers import find_id
from scripts.options import Data, list_rows, open_database, read_name
from scripts.terminal import show_table

#: A balance is a PostgreSQL bigint.
MOST_CREDITS = 2**63 - 1

group = typer.Typer(name="accounts", help="Open, top up and list accounts.", no_args_is_help=True)
register = under(ACCOUNTS, group)


@group.command()
def create(
    name: Annotated[str, typer.Argument(help="A name for people.")],
    tier: Annotated[str, typer.Option(help=f"One of {', '.join(TIERS)}.")] = "free",
    credits: Annotated[int, typer.Option(min=0, help="Opening balance.")] = 0,
    email: Annotated[str | None, typer.Option(help="To sign in at the dashboard with.")] = None,
    operator: Annotated[bool, typer.Option("--operator", help="May see and change what is of all accounts.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print account_id and api_key as JSON.")] = False,
    data: Data = None,
) -> None:
    """Open an account; its key is shown once."""
    _check_credits(credits)
    _check_tier(tier)
    email = read_email(email) if email else None
    with open_database(data) as database:
        if email and database.run(find_owner(email)):
            raise email_taken(email)
        opened, opening = accounts.new_account(name=read_name(name), tier=tier, credits=credits)
        run_with_email(database, opened.id, email, [opening, set_operator(opened.id, is_operator=operator)])
    if as_json:
        typer.echo(json.dumps({"account_id": str(opened.id), "api_key": opened.key.secret}))
    else:
        typer.echo(f"account {opened.id}\napi key {opened.key.secret}  (shown once)")


@group.command("top-up", context_settings={"ignore_unknown_options": True})  # -500 is a number
def top_up(
    account_id: str,
    credits: Annotated[int, typer.Argument(help="Credits to add; a negative number takes unspent ones back.")],
    note: Annotated[str | None, typer.Option(help="Kept in the ledger.")] = None,
    data: Data = None,
) -> None:
    """Add credits to an account."""
    _check_credits(credits)
    with open_database(data) as database:
        try:
            balance = database.run(
                lifecycle.grant_credits(find_id(database, "account", account_id), credits, note and read_name(note))
            )
        except CheckViolation as error:
            raise InvalidRequest(f"The account has fewer than {-credits:,} credits to take back.") from error
        except NumericValueOutOfRange as error:
            raise InvalidRequest(f"The balance would be more than {MOST_CREDITS:,}, which is the most.") from error
    if balance is None:
        raise _no_account(account_id)
    typer.echo(f"balance {balance:,}")


@group.command("set-tier")
def set_tier(
    account_id: str,
    tier: Annotated[str, typer.Argument(help=f"One of {', '.join(TIERS)}.")],
    data: Data = None,
) -> None:
    """Put an account into another tier; its limits change within seconds."""
    _check_tier(tier)
    with open_database(data) as database:
        if not database.run(lifecycle.change_tier(find_id(database, "account", account_id), tier)):
            raise _no_account(account_id)
    typer.echo(f"tier {tier}")


@group.command()
def suspend(account_id: str, data: Data = None) -> None:
    """Refuse an account's requests from now on, and end the jobs that it has open; nothing is deleted."""
    _suspend(account_id, data, suspended=True)


@group.command()
def resume(account_id: str, data: Data = None) -> None:
    """Let a suspended account go on."""
    _suspend(account_id, data, suspended=False)


def _suspend(account_id: str, data: Path | None, *, suspended: bool) -> None:
    with open_database(data) as database:
        if not database.run(lifecycle.suspend_account(find_id(database, "account", account_id), suspended=suspended)):
            raise _no_account(account_id)
    typer.echo("suspended" if suspended else "goes on")


@group.command("list")
def list_accounts(data: Data = None) -> None:
    """List the accounts, newest last."""
    # New columns come last: programs read these by their place.
    sql = "SELECT id, name, tier, available, created_at, email, is_operator FROM account ORDER BY created_at"
    rows = [
        (*others, f"{created_at:%Y-%m-%d %H:%M}", email, "yes" if is_operator else None)
        for *others, created_at, email, is_operator in list_rows(data, sql)
    ]
    show_table("Accounts", ["id", "name", "tier", "available", "created", "e-mail", "operator"], rows)


def _no_account(account_id: str) -> NotFound:
    return NotFound(f"There is no account {account_id}. `pressroom accounts list` shows them.")


def _check_tier(tier: str) -> None:
    if tier not in TIERS:
        raise InvalidRequest(f"There is no tier {tier!r}; there is {', '.join(TIERS)}.")


def _check_credits(credits: int) -> None:
    if abs(credits) > MOST_CREDITS:
        raise InvalidRequest(f"{credits:,} credits are too many: an account has {MOST_CREDITS:,} at most.")
