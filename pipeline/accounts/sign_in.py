"""Sign-in: people's e-mails and passwords, and links that sign in once."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from pipeline.accounts.passwords import hash_password
from pipeline.accounts.sessions import Person, end_sessions, end_unfinished, hash_token, read_email
from pipeline.database import Statement, row_of


def set_email(person_id: UUID, email: str) -> Statement[bool]:
    """Give a person an e-mail; raises psycopg's UniqueViolation where another has it."""
    return Statement(
        "UPDATE person SET email = %(email)s WHERE id = %(id)s RETURNING id",
        {"id": person_id, "email": read_email(email)},
        bool,
    )


def set_password(person_id: UUID, password: str | None) -> list[Statement[Any]]:
    """Return the statements that set a password, or take it, and end sign-in links, steps and all sessions.

    The last returns how many browsers. Run them in one transaction and in this order, so that nobody who knew the old
    password stays signed in, or signs in meanwhile. Hashing takes about 0.1 s. Raises PasswordInvalid."""
    changing = Statement(
        "UPDATE person SET password_hash = %(hash)s WHERE id = %(id)s RETURNING id",
        {"id": person_id, "hash": None if password is None else hash_password(password)},
        bool,
    )
    unlinking: Statement[None] = Statement(
        "DELETE FROM sign_in_link WHERE person_id = %(id)s RETURNING 1 AS ended", {"id": person_id}, lambda rows: None
    )
    return [changing, unlinking, end_unfinished(person_id), end_sessions(person_id)]


def set_operator(account_id: UUID, *, is_operator: bool) -> Statement[bool]:
    return Statement(
        "UPDATE account SET is_operator = %(is_operator)s WHERE id = %(id)s RETURNING id",
        {"id": account_id, "is_operator": is_operator},
        bool,
    )


def add_link(account_id: UUID, token: str, *, lasts: timedelta, person_id: UUID | None = None) -> Statement[bool]:
    """Keep a link that signs a person in to an account once, by default its first owner; ended links go.

    Returns whether the account has the person, or an owner."""
    return Statement(
        "WITH gone AS (DELETE FROM sign_in_link WHERE token_hash IN (SELECT token_hash FROM sign_in_link"
        "  WHERE expires_at < now() LIMIT 1000 FOR UPDATE SKIP LOCKED))"
        " INSERT INTO sign_in_link (token_hash, account_id, person_id, expires_at)"
        " SELECT %(token)s, account_id, person_id, now() + %(lasts)s FROM membership WHERE account_id = %(account)s"
        " AND CASE WHEN %(person)s::uuid IS NULL THEN role = 'owner' ELSE person_id = %(person)s END"
        " ORDER BY created_at, person_id LIMIT 1 RETURNING 1 AS added",
        {"token": hash_token(token), "account": account_id, "person": person_id, "lasts": lasts},
        bool,
        repeatable=False,
    )


def has_link(token: str) -> Statement[bool]:
    """Say whether a link can still be used."""
    return Statement(
        "SELECT 1 FROM sign_in_link WHERE token_hash = %(token)s AND expires_at > now()",
        {"token": hash_token(token)},
        bool,
    )


def use_link(token: str) -> Statement[Person | None]:
    """Use a link up, and return whom it signs in; None when it is unknown, has been used, or has ended."""
    return Statement(
        "WITH used AS (DELETE FROM sign_in_link WHERE token_hash = %(token)s AND expires_at > now()"
        " RETURNING account_id, person_id)"
        " SELECT p.id, a.id AS account_id, p.password_hash, a.suspended_at IS NOT NULL AS is_suspended FROM used u"
        " JOIN membership m USING (account_id, person_id) JOIN person p ON p.id = m.person_id"
        " JOIN account a ON a.id = m.account_id",
        {"token": hash_token(token)},
        row_of(Person),
        repeatable=False,
    )
