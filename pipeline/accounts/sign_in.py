"""Sign-in: accounts by their e-mail, their passwords, and links that sign in once."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from pipeline.accounts.passwords import hash_password
from pipeline.accounts.sessions import end_sessions, hash_token
from pipeline.database import Row, Statement
from pipeline.errors import InvalidRequest

#: As long as an address may be (RFC 5321, section 4.5.3.1.3).
MAX_EMAIL_LENGTH = 254
EMAIL = re.compile(r"[^@\s\x00-\x1f]+@[^@\s\x00-\x1f]+")


class EmailInvalid(InvalidRequest):
    """The text is no e-mail address."""

    code = "email_invalid"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whoever may sign in as an account."""

    account_id: UUID
    password_hash: str | None
    is_suspended: bool


def read_email(text: str) -> str:
    """Return an e-mail address as it is stored: in small letters. Raises EmailInvalid."""
    email = text.strip().lower()
    if len(email) > MAX_EMAIL_LENGTH or not EMAIL.fullmatch(email):
        raise EmailInvalid(f"{text.strip()[:60]!r} is no e-mail address: it looks like you@example.com.")
    return email


def find_owner(email: str) -> Statement[Owner | None]:
    """Look an account up by its e-mail."""
    return Statement(
        "SELECT id, password_hash, suspended_at IS NOT NULL AS is_suspended FROM account WHERE email = %(email)s",
        {"email": email},
        _owner,
    )


def find_owner_by_id(account_id: UUID) -> Statement[Owner | None]:
    """Look an account up by its id."""
    return Statement(
        "SELECT id, password_hash, suspended_at IS NOT NULL AS is_suspended FROM account WHERE id = %(id)s",
        {"id": account_id},
        _owner,
    )


def set_email(account_id: UUID, email: str) -> Statement[bool]:
    """Give an account an e-mail; raises psycopg's UniqueViolation where another has it."""
    return Statement(
        "UPDATE account SET email = %(email)s WHERE id = %(id)s RETURNING id",
        {"id": account_id, "email": read_email(email)},
        bool,
    )


def set_password(account_id: UUID, password: str) -> list[Statement[Any]]:
    """Return what gives an account a password and signs all its browsers out; the last returns how many.

    They run in one transaction: a process that died between them would leave whoever knew the old password signed in.
    In this order, one who is just signing in with the old password is signed out too. It takes about 0.1 s to make.
    Raises PasswordInvalid."""
    changing = Statement(
        "UPDATE account SET password_hash = %(hash)s WHERE id = %(id)s RETURNING id",
        {"id": account_id, "hash": hash_password(password)},
        bool,
    )
    return [changing, end_sessions(account_id)]


def set_operator(account_id: UUID, *, is_operator: bool) -> Statement[bool]:
    """Make an account an operator, or no longer one."""
    return Statement(
        "UPDATE account SET is_operator = %(is_operator)s WHERE id = %(id)s RETURNING id",
        {"id": account_id, "is_operator": is_operator},
        bool,
    )


def add_link(account_id: UUID, token: str, *, lasts: timedelta) -> Statement[None]:
    """Keep a link that signs an account in once; those of all that have ended go."""
    return Statement(
        "WITH gone AS (DELETE FROM sign_in_link WHERE token_hash IN (SELECT token_hash FROM sign_in_link"
        "  WHERE expires_at < now() LIMIT 1000 FOR UPDATE SKIP LOCKED))"
        " INSERT INTO sign_in_link (token_hash, account_id, expires_at)"
        " VALUES (%(token)s, %(account)s, now() + %(lasts)s) RETURNING 1 AS added",
        {"token": hash_token(token), "account": account_id, "lasts": lasts},
        lambda rows: None,
        repeatable=False,
    )


def has_link(token: str) -> Statement[bool]:
    """Say whether a link can still be used."""
    return Statement(
        "SELECT 1 FROM sign_in_link WHERE token_hash = %(token)s AND expires_at > now()",
        {"token": hash_token(token)},
        bool,
    )


def use_link(token: str) -> Statement[Owner | None]:
    """Use a link up, and return whom it signs in; None when it is unknown, has been used, or has ended."""
    return Statement(
        "WITH used AS (DELETE FROM sign_in_link WHERE token_hash = %(token)s AND expires_at > now()"
        " RETURNING account_id)"
        " SELECT a.id, a.password_hash, a.suspended_at IS NOT NULL AS is_suspended"
        " FROM used JOIN account a ON a.id = used.account_id",
        {"token": hash_token(token)},
        _owner,
        repeatable=False,
    )


def _owner(rows: list[Row]) -> Owner | None:
    if not rows:
        return None
    return Owner(rows[0]["id"], rows[0]["password_hash"], rows[0]["is_suspended"])
