"""Steps: what a browser has begun and not finished, in a short-lived row that only its cookie finds."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.accounts.sessions import hash_token
from pipeline.database import SQL, Statement, nothing, row_of

#: second: the password was right; passkey: a challenge to sign in; new_passkey: one to add it; provider: away at it.
Purpose = Literal["second", "passkey", "new_passkey", "provider"]
#: How long a step waits for the next one.
LASTS = timedelta(minutes=10)

_VALID = SQL("token_hash = %(token)s AND purpose = %(purpose)s AND expires_at > now()")


@dataclass(frozen=True, slots=True)
class Step:
    """A step, and whose it is, where that is known."""

    person_id: UUID | None
    content: dict[str, Any]


def add_step(
    token: str, purpose: Purpose, content: dict[str, Any], *, person_id: UUID | None = None
) -> Statement[None]:
    """Keep a step; those of all that have ended go."""
    return Statement(
        "WITH gone AS (DELETE FROM sign_in_step WHERE token_hash IN (SELECT token_hash FROM sign_in_step"
        "  WHERE expires_at < now() LIMIT 1000 FOR UPDATE SKIP LOCKED))"
        " INSERT INTO sign_in_step (token_hash, purpose, person_id, content, expires_at)"
        " VALUES (%(token)s, %(purpose)s, %(person)s, %(content)s, now() + %(lasts)s) RETURNING 1 AS added",
        {**_found(token, purpose), "person": person_id, "content": Jsonb(content), "lasts": LASTS},
        nothing,
        repeatable=False,
    )


def find_step(token: str, purpose: Purpose) -> Statement[Step | None]:
    return Statement(
        SQL("SELECT person_id, content FROM sign_in_step WHERE {}").format(_VALID), _found(token, purpose), row_of(Step)
    )


def add_to_step(token: str, purpose: Purpose, content: dict[str, Any]) -> Statement[None]:
    """Add to what a step has, such as the challenge that it waits for."""
    return Statement(
        SQL("UPDATE sign_in_step SET content = content || %(content)s WHERE {} RETURNING 1 AS changed").format(_VALID),
        {**_found(token, purpose), "content": Jsonb(content)},
        nothing,
    )


def take_step(token: str, purpose: Purpose) -> Statement[Step | None]:
    """Use a step up; None when it is unknown, was used, or has ended."""
    return Statement(
        SQL("DELETE FROM sign_in_step WHERE {} RETURNING person_id, content").format(_VALID),
        _found(token, purpose),
        row_of(Step),
        repeatable=False,
    )


def _found(token: str, purpose: Purpose) -> dict[str, Any]:
    return {"token": hash_token(token), "purpose": purpose}
