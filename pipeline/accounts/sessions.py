"""Sessions: who may sign in at the dashboard, and who is signed in. Only a token's hash is stored."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pipeline.accounts.keys import Caller
from pipeline.database import Row, Statement, nothing
from pipeline.errors import InvalidRequest

#: Bytes of a token.
TOKEN_BYTES = 32
#: Name of the key that an account's sessions work with.
KEY_NAME = "dashboard"
#: How exactly it is known when a session was used last.
SEEN_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that somebody has signed in with.

    Work that is asked for with it counts for `caller`: the account's key of the name "dashboard". `csrf_token` has to
    be in each request that changes something; it is made from the session's token, which no other site can read."""

    token_hash: bytes
    csrf_token: str
    caller: Caller
    account_name: str
    email: str | None
    is_operator: bool
    has_password: bool
    last_seen_at: datetime

    @property
    def account_id(self) -> UUID:
        return self.caller.account_id


def make_token() -> str:
    """Return a new random token: 256 bits."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def hash_token(token: str) -> bytes:
    """Return the hash under which a token is stored: its random bits need no salt and no slow hash."""
    return hashlib.sha256(token.encode()).digest()


def csrf_token_of(token: str) -> str:
    """Return what a form has to send with a cookie that holds `token`; nobody can go back from it to the token."""
    return hmac.new(token.encode(), b"pressroom csrf", hashlib.sha256).hexdigest()


def begin_session(account_id: UUID, token: str, *, lasts: timedelta, checked: "Owner | None" = None) -> Statement[bool]:
    """Sign an account in; the key for its sessions is made, or revived, and sessions of all that have ended go.

    `checked`: what was read of the account before its password was checked. Where the account has another password by
    now, or is suspended, nobody is signed in, and the result is false."""
    return Statement(
        # Two that sign in at once don't wait for each other's rows.
        "WITH gone AS (DELETE FROM session WHERE token_hash IN (SELECT token_hash FROM session"
        "  WHERE expires_at < now() LIMIT 1000 FOR UPDATE SKIP LOCKED)),"
        # The lock: one who changes the password now is waited for, or waits and then ends this session.
        " same AS (SELECT id FROM account WHERE id = %(account)s AND (NOT %(is_checked)s OR"
        "  suspended_at IS NULL AND password_hash IS NOT DISTINCT FROM %(password_hash)s) FOR SHARE),"
        " key AS (INSERT INTO api_key (account_id, name, hash, hint, is_dashboard)"
        "  SELECT id, %(name)s, %(secret)s, '', true FROM same"
        "  ON CONFLICT (account_id) WHERE is_dashboard DO UPDATE SET revoked_at = NULL)"
        " INSERT INTO session (token_hash, account_id, expires_at)"
        " SELECT %(token)s, id, now() + %(lasts)s FROM same RETURNING 1 AS begun",
        {
            "account": account_id,
            "is_checked": checked is not None,
            "password_hash": checked and checked.password_hash,
            "name": KEY_NAME,
            "secret": secrets.token_bytes(32),  # the hash of no key that anybody has
            "token": hash_token(token),
            "lasts": lasts,
        },
        bool,
        repeatable=False,
    )


def find_session(token: str, *, idle: timedelta) -> Statement[Session | None]:
    """Look a session up, and note that it is used; None when it is unknown, has ended, or its account is suspended."""
    return Statement(
        "WITH found AS ("
        " SELECT s.token_hash, s.last_seen_at, s.account_id, k.id AS api_key_id, a.tier, a.name, a.email,"
        "  a.is_operator, a.password_hash IS NOT NULL AS has_password"
        " FROM session s JOIN account a ON a.id = s.account_id"
        " JOIN api_key k ON k.account_id = s.account_id AND k.is_dashboard AND k.revoked_at IS NULL"
        " WHERE s.token_hash = %(token)s AND s.expires_at > now() AND s.last_seen_at > now() - %(idle)s"
        "  AND a.suspended_at IS NULL),"
        " seen AS (UPDATE session s SET last_seen_at = now() FROM found f"
        "  WHERE s.token_hash = f.token_hash AND f.last_seen_at < now() - %(exactly)s)"
        " SELECT * FROM found",
        {"token": hash_token(token), "idle": idle, "exactly": SEEN_EVERY},
        lambda rows: _session(token, rows[0]) if rows else None,
    )


def end_session(token_hash: bytes) -> Statement[None]:
    return Statement(
        "DELETE FROM session WHERE token_hash = %(token)s RETURNING 1 AS ended", {"token": token_hash}, nothing
    )


def end_sessions(account_id: UUID, *, but: bytes | None = None) -> Statement[int]:
    """Sign all browsers of an account out, but the one with this token's hash; return how many."""
    return Statement(
        "DELETE FROM session WHERE account_id = %(account)s AND token_hash IS DISTINCT FROM %(but)s"
        " RETURNING 1 AS ended",
        {"account": account_id, "but": but},
        len,
    )


def list_sessions(account_id: UUID, *, idle: timedelta) -> Statement[list[Row]]:
    """Return token_hash, created_at, last_seen_at and expires_at of an account's sessions, last used first."""
    return Statement(
        "SELECT token_hash, created_at, last_seen_at, expires_at FROM session"
        " WHERE account_id = %(account)s AND expires_at > now() AND last_seen_at > now() - %(idle)s"
        " ORDER BY last_seen_at DESC LIMIT 100",
        {"account": account_id, "idle": idle},
    )


def _session(token: str, row: Row) -> Session:
    return Session(
        token_hash=hash_token(token),
        csrf_token=csrf_token_of(token),
        caller=Caller(account_id=row["account_id"], api_key_id=row["api_key_id"], tier=row["tier"]),
        account_name=row["name"],
        email=row["email"],
        is_operator=row["is_operator"],
        has_password=row["has_password"],
        last_seen_at=row["last_seen_at"],
    )


#: As long as an address may be (RFC 5321, section 4.5.3.1.3).
MAX_EMAIL_LENGTH = 254
EMAIL = re.compile(r"[^@\s\x00-\x1f]+@[^@\s\x00-\x1f]+")


class EmailInvalid(InvalidRequest):
    """The text is no e-mail address."""

    code = "email_invalid"


@dataclass(frozen=True, slots=True)
class Owner:
    """An account, for signing in."""

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
    return Statement(
        "SELECT id, password_hash, suspended_at IS NOT NULL AS is_suspended FROM account WHERE email = %(email)s",
        {"email": email},
        read_owner,
    )


def find_owner_by_id(account_id: UUID) -> Statement[Owner | None]:
    return Statement(
        "SELECT id, password_hash, suspended_at IS NOT NULL AS is_suspended FROM account WHERE id = %(id)s",
        {"id": account_id},
        read_owner,
    )


def read_owner(rows: list[Row]) -> Owner | None:
    if not rows:
        return None
    return Owner(rows[0]["id"], rows[0]["password_hash"], rows[0]["is_suspended"])
