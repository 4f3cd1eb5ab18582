"""Choices: what each person wants to be told of, how soon, and the balance that counts as low."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pipeline.database import Row, Statement, nothing

#: As `models.notices` has it for its CHECK.
AT_ONCE, DAILY = "at once", "daily"


def choose(account_id: UUID, person_id: UUID, wanted: Mapping[str, str]) -> list[Statement[Any]]:
    """Return the statements that keep a person's choices, from event to "at once" or "daily"; others end."""
    keys = {"account": account_id, "person": person_id}
    ending: Statement[None] = Statement(
        "DELETE FROM notice_choice WHERE account_id = %(account)s AND person_id = %(person)s"
        " AND event <> ALL (%(events)s) RETURNING 1 AS ended",
        {**keys, "events": [*wanted]},
        nothing,
    )
    keeping: Statement[None] = Statement(
        "INSERT INTO notice_choice (account_id, person_id, event, how, next_at)"
        " SELECT %(account)s, %(person)s, event, how, now() + CASE how WHEN 'daily' THEN interval '1 day' ELSE '0' END"
        " FROM unnest(%(events)s::text[], %(hows)s::text[]) AS c (event, how)"
        " ON CONFLICT (account_id, person_id, event) DO UPDATE SET how = excluded.how, next_at = excluded.next_at"
        " WHERE notice_choice.how <> excluded.how RETURNING 1 AS kept",
        {**keys, "events": [*wanted], "hows": [*wanted.values()]},
        nothing,
    )
    return [ending, keeping]


def read_choices(account_id: UUID, person_id: UUID) -> Statement[dict[str, str]]:
    """Return how a person wants to be told, by event."""
    return Statement(
        "SELECT event, how FROM notice_choice WHERE account_id = %(account)s AND person_id = %(person)s",
        {"account": account_id, "person": person_id},
        lambda rows: {row["event"]: row["how"] for row in rows},
    )


def find_choice(token: UUID) -> Statement[Row | None]:
    """Return event, how and the account's name of the choice that a mail's link ends, or None."""
    return Statement(
        "SELECT c.event, c.how, a.name AS account FROM notice_choice c JOIN account a ON a.id = c.account_id"
        " WHERE c.token = %(token)s",
        {"token": token},
        lambda rows: rows[0] if rows else None,
    )


def end_choice(token: UUID) -> Statement[int]:
    """End the choice of a mail's link, or all of the daily mail that it came with; return how many."""
    return Statement(
        "DELETE FROM notice_choice c USING notice_choice of"
        " WHERE of.token = %(token)s AND c.account_id = of.account_id AND c.person_id = of.person_id"
        " AND (c.event = of.event OR c.how = 'daily' AND of.how = 'daily') RETURNING 1 AS ended",
        {"token": token},
        len,
    )


def set_low_balance(account_id: UUID, credits: int | None) -> Statement[None]:
    """Set the balance below which people are told; None: never."""
    return Statement(
        "UPDATE account SET low_balance = %(credits)s, low_since = NULL WHERE id = %(account)s RETURNING 1 AS kept",
        {"account": account_id, "credits": credits},
        nothing,
    )


def read_low_balance(account_id: UUID) -> Statement[int | None]:
    return Statement(
        "SELECT low_balance FROM account WHERE id = %(account)s",
        {"account": account_id},
        lambda rows: rows[0]["low_balance"] if rows else None,
    )


def note_low_balances() -> Statement[list[Row]]:
    """Note which balances have fallen below their limit, or are above it again; return those that fell.

    Rows have account_id, available and low_balance."""
    return Statement(
        "WITH crossed AS (SELECT id FROM account WHERE low_balance IS NOT NULL"
        "  AND (available < low_balance) <> (low_since IS NOT NULL) FOR NO KEY UPDATE SKIP LOCKED),"
        " noted AS (UPDATE account a SET low_since = CASE WHEN a.available < a.low_balance THEN now() END"
        "  FROM crossed c WHERE a.id = c.id RETURNING a.id AS account_id, a.available, a.low_balance, a.low_since)"
        " SELECT account_id, available, low_balance FROM noted WHERE low_since IS NOT NULL",
        {},
        list,
    )
