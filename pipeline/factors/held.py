"""Held: which factors a person has beside their password, and how all of them are taken away."""

from typing import Any
from uuid import UUID

from pipeline.accounts.sessions import HAS_FACTOR, end_sessions, end_unfinished
from pipeline.database import SQL, Statement, nothing
from pipeline.factors.recovery import remove_codes
from pipeline.factors.totp import remove_totp


def has_factor(person_id: UUID) -> Statement[bool]:
    """Say whether a person has an authenticator app or a passkey."""
    return Statement(
        SQL("SELECT {} AS found").format(HAS_FACTOR.format(SQL("%(person)s"))),
        {"person": person_id},
        lambda rows: bool(rows[0]["found"]),
    )


def lock_person(person_id: UUID) -> Statement[None]:
    """Let one change of a person's factors follow the other, in the transaction of what comes after."""
    return Statement("SELECT id FROM person WHERE id = %(person)s FOR NO KEY UPDATE", {"person": person_id}, nothing)


def reset_factors(person_id: UUID) -> list[Statement[Any]]:
    """Return the statements that leave a person their password alone and sign them out everywhere.

    Their app, passkeys, recovery codes and link with a provider go, which somebody else may have added."""
    removing = SQL("DELETE FROM {} WHERE person_id = %(person)s RETURNING 1 AS gone")
    passkeys, links = (
        Statement(removing.format(SQL(table)), {"person": person_id}, len) for table in ("passkey", "provider_identity")
    )
    return [remove_totp(person_id), passkeys, remove_codes(person_id), links, *stop_sign_ins(person_id)]


def stop_sign_ins(person_id: UUID, *, but: bytes | None = None) -> list[Statement[Any]]:
    """Return the statements that end a person's half-finished sign-ins, and their sessions but this one."""
    return [end_unfinished(person_id), end_sessions(person_id, but=but)]


def require_factors(account_id: UUID, *, needed: bool) -> Statement[bool]:
    """Say whether each person of an account needs a second factor; who lacks one is sent to set it up."""
    return Statement(
        "UPDATE account SET needs_second_factor = %(needed)s WHERE id = %(account)s RETURNING id",
        {"account": account_id, "needed": needed},
        bool,
    )
