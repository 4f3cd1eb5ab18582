"""Owners: who may sign in as an account, found by e-mail or by id."""

import re
from dataclasses import dataclass
from uuid import UUID

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
        read_owner,
    )


def find_owner_by_id(account_id: UUID) -> Statement[Owner | None]:
    """Look an account up by its id."""
    return Statement(
        "SELECT id, password_hash, suspended_at IS NOT NULL AS is_suspended FROM account WHERE id = %(id)s",
        {"id": account_id},
        read_owner,
    )


def read_owner(rows: list[Row]) -> Owner | None:
    """Return the owner that a statement has found."""
    if not rows:
        return None
    return Owner(rows[0]["id"], rows[0]["password_hash"], rows[0]["is_suspended"])
