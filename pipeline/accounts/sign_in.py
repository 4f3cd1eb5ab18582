"""Sign-in: accounts by their e-mail, their passwords, and links that sign in once."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from pipeline.accounts.passwords import hash_password
from pipeline.accounts.sessions import Owner, end_sessions, hash_token, read_email, read_owner
from pipeline.database import Statement, nothing


def set_email(account_id: UUID, email: str) -> Statement[bool]:
    """Give an account an e-mail; raises psycopg's UniqueViolation where another has it."""
    return Statement(
        "UPDATE account SET email = %(email)s WHERE id = %(id)s RETURNING id",
        {"id": account_id, "email": read_email(email)},
        bool,
    )


def set_password(account_id: UUID, password: str) -> list[Statement[Any]]:
    """Return the statements that set a password, end the sign-in links, and sign all browsers out.

    The last returns how many browsers. Run them in one transaction and in this order, so that nobody who knew the old
    password stays signed in, or signs in meanwhile. Hashing takes about 0.1 s. Raises PasswordInvalid."""
    changing = Statement(
        "UPDATE account SET password_hash = %(hash)s WHERE id = %(id)s RETURNING id",
        {"id": account_id, "hash": hash_password(password)},
        bool,
    )
    unlinking: Statement[None] = Statement(
        "DELETE FROM sign_in_link WHERE account_id = %(id)s RETURNING 1 AS ended", {"id": account_id}, lambda rows: None
    )
    return [changing, unlinking, end_sessions(account_id)]


def set_operator(account_id: UUID, *, is_operator: bool) -> Statement[bool]:
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
        nothing,
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
        read_owner,
        repeatable=False,
    )
