"""Accounts: opened, given credits, with a line of the ledger for each, and put into another tier."""

from uuid import UUID

from pipeline.database import Statement, nothing
from pipeline.lifecycle.schema import call


def open_account(
    account_id: UUID, name: str, tier: str, credits: int, *, key_id: UUID, key_name: str, key_hash: bytes, hint: str
) -> Statement[None]:
    """Make an account with its owner, who has its id, its first key and its opening balance."""
    return call(
        "open_account",
        {
            "account": account_id,
            "name": name,
            "tier": tier,
            "credits": credits,
            "key": key_id,
            "key_name": key_name,
            "hash": key_hash,
            "hint": hint,
        },
        nothing,
        repeatable=False,
    )


def grant_credits(account_id: UUID, credits: int, note: str | None = None) -> Statement[int | None]:
    """Give credits to an account (negative: take unspent ones back); returns the balance, None for no such account."""
    return call(
        "grant_credits",
        {"account": account_id, "credits": credits, "note": note},
        lambda rows: rows[0]["grant_credits"],
        repeatable=False,
    )


def suspend_account(account_id: UUID, *, suspended: bool) -> Statement[bool]:
    """Suspend an account, or let it go on; returns whether there is such an account.

    Its submissions are refused from then on, and its browsers signed out; a sweep ends the jobs that are open, within
    about a second."""
    return Statement(
        "WITH ended AS (DELETE FROM session WHERE account_id = %(account)s AND %(suspended)s)"
        " UPDATE account SET suspended_at = CASE WHEN %(suspended)s THEN coalesce(suspended_at, now()) END"
        " WHERE id = %(account)s RETURNING id",
        {"account": account_id, "suspended": suspended},
        bool,
    )


def change_tier(account_id: UUID, tier: str) -> Statement[bool]:
    """Put an account into another tier; returns whether there is such an account."""
    return Statement(
        "UPDATE account SET tier = %(tier)s WHERE id = %(account)s RETURNING id",
        {"account": account_id, "tier": tier},
        bool,
    )
