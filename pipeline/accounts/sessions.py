"""Sessions: who may sign in at the dashboard, and who is signed in, in which account. Only a token's hash is stored."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pipeline.accounts.audit import NOTE, Action, Actor, note_parameters, noted
from pipeline.accounts.keys import Caller
from pipeline.accounts.roles import Role
from pipeline.database import SQL, Row, Statement, nothing, row_of
from pipeline.errors import InvalidRequest

#: Bytes of a token.
TOKEN_BYTES = 32
#: Name of the key that an account's sessions work with.
KEY_NAME = "dashboard"
#: Precision of the time at which a session was last used.
SEEN_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Session:
    """A browser in which a person has signed in to an account.

    Work that is asked for with it counts for `caller`: the account's key of the name "dashboard". `csrf_token` has to
    be in each request that changes something; it is made from the session's token, which no other site can read.
    `is_operator`: the person owns an account of operators. `accounts`: how many accounts the person has. `proven_ago`:
    since the person has proven who they are. `lacks_factor`: the account needs a second factor, and they have none."""

    token_hash: bytes
    csrf_token: str
    caller: Caller
    account_name: str
    person_id: UUID
    person_name: str
    email: str | None
    role: Role
    is_operator: bool
    has_password: bool
    accounts: int
    last_seen_at: datetime
    proven_ago: timedelta
    needs_second_factor: bool
    lacks_factor: bool

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
    """Return the CSRF token for a cookie that holds `token`; it does not reveal the token."""
    return hmac.new(token.encode(), b"pressroom csrf", hashlib.sha256).hexdigest()


#: The condition that the person {0} has a factor beside the password, which counts.
HAS_FACTOR = SQL(
    "(EXISTS (SELECT FROM totp WHERE totp.person_id = {0} AND totp.confirmed_at IS NOT NULL)"
    " OR EXISTS (SELECT FROM passkey WHERE passkey.person_id = {0}))"
)


_BEGIN = SQL(
    # Two that sign in at once don't wait for each other's rows.
    "WITH gone AS (DELETE FROM session WHERE token_hash IN (SELECT token_hash FROM session"
    "  WHERE expires_at < now() LIMIT 1000 FOR UPDATE SKIP LOCKED)),"
    # The lock: one who changes the password now is waited for, or waits and then ends this session.
    " same AS (SELECT m.account_id, p.id FROM person p JOIN membership m ON m.person_id = p.id"
    "  JOIN account a ON a.id = m.account_id WHERE p.id = %(person)s AND m.account_id = %(account)s"
    "  AND (NOT %(is_checked)s OR a.suspended_at IS NULL"
    "  AND p.password_hash IS NOT DISTINCT FROM %(password_hash)s)"
    "  FOR SHARE OF p, a),"
    " key AS (INSERT INTO api_key (account_id, name, hash, hint, is_dashboard)"
    "  SELECT account_id, %(name)s, %(secret)s, '', true FROM same"
    "  ON CONFLICT (account_id) WHERE is_dashboard DO UPDATE SET revoked_at = NULL),"
    " noted AS ({note} FROM same)"
    " INSERT INTO session (token_hash, account_id, person_id, expires_at, browser, address)"
    " SELECT %(token)s, account_id, id, now() + %(lasts)s, %(browser)s, %(address)s FROM same RETURNING 1 AS begun"
).format(note=NOTE)


_MOVE = SQL(
    "WITH own AS (SELECT m.account_id FROM membership m JOIN account a ON a.id = m.account_id"
    "  WHERE m.person_id = %(person)s AND m.account_id = %(account)s AND a.suspended_at IS NULL),"
    " key AS (INSERT INTO api_key (account_id, name, hash, hint, is_dashboard)"
    "  SELECT account_id, %(name)s, %(secret)s, '', true FROM own"
    "  ON CONFLICT (account_id) WHERE is_dashboard DO UPDATE SET revoked_at = NULL),"
    " noted AS ({note} FROM own)"
    " UPDATE session s SET account_id = own.account_id FROM own WHERE s.token_hash = %(hash)s RETURNING 1 AS moved"
).format(note=NOTE)


def begin_session(
    person_id: UUID,
    account_id: UUID,
    token: str,
    *,
    lasts: timedelta,
    checked: "Person | None" = None,
    action: Action = Action.SIGNED_IN,
    browser: str = "",
    address: str = "",
) -> Statement[bool]:
    """Sign a person in to an account of theirs, and note it; the key for its sessions is made, or revived.

    `checked` is the person as read before the password check. If the password has changed since, or the account is
    suspended, nobody is signed in, and the result is false. `browser` and `address` are for the
    person, to tell their sessions apart."""
    return Statement(
        _BEGIN,
        {
            "person": person_id,
            "account": account_id,
            "is_checked": checked is not None,
            "password_hash": checked and checked.password_hash,
            "name": KEY_NAME,
            "secret": secrets.token_bytes(32),  # the hash of no key that anybody has
            "token": hash_token(token),
            "lasts": lasts,
            "browser": browser,
            "address": address,
            **note_parameters(Actor(account_id, person_id), action),
        },
        bool,
        repeatable=False,
    )


_FIND = SQL(
    "WITH found AS ("
    " SELECT s.token_hash, s.last_seen_at, s.account_id, k.id AS api_key_id, a.tier, a.name AS account_name,"
    "  p.id AS person_id, p.name AS person_name, p.email, m.role,"
    "  a.is_operator AND m.role = 'owner' AS is_operator, p.password_hash IS NOT NULL AS has_password,"
    "  (SELECT count(*) FROM membership o WHERE o.person_id = p.id) AS accounts, now() - s.proven_at AS proven_ago,"
    "  a.needs_second_factor, a.needs_second_factor AND NOT {has_factor} AS lacks_factor"
    " FROM session s JOIN membership m ON m.account_id = s.account_id AND m.person_id = s.person_id"
    " JOIN person p ON p.id = s.person_id JOIN account a ON a.id = s.account_id"
    " JOIN api_key k ON k.account_id = s.account_id AND k.is_dashboard AND k.revoked_at IS NULL"
    " WHERE s.token_hash = %(token)s AND s.expires_at > now() AND s.last_seen_at > now() - %(idle)s"
    "  AND a.suspended_at IS NULL),"
    " seen AS (UPDATE session s SET last_seen_at = now() FROM found f"
    "  WHERE s.token_hash = f.token_hash AND f.last_seen_at < now() - %(exactly)s)"
    " SELECT * FROM found"
).format(has_factor=HAS_FACTOR.format(SQL("p.id")))


def find_session(token: str, *, idle: timedelta) -> Statement[Session | None]:
    """Look a session up with its person's role as it is now, and note that it is used.

    None when it is unknown or has ended, its person has left the account, or the account is suspended."""
    return Statement(
        _FIND,
        {"token": hash_token(token), "idle": idle, "exactly": SEEN_EVERY},
        lambda rows: _session(token, **rows[0]) if rows else None,
    )


def end_session(token_hash: bytes, actor: Actor) -> Statement[None]:
    ending: Statement[None] = Statement(
        "DELETE FROM session WHERE token_hash = %(token)s RETURNING 1 AS ended", {"token": token_hash}, nothing
    )
    return noted(ending, actor, Action.SIGNED_OUT)


def move_session(token_hash: bytes, person_id: UUID, account_id: UUID) -> Statement[bool]:
    """Let a session go on in another account of its person, and note it; false if they may not open that one."""
    return Statement(
        _MOVE,
        {
            "hash": token_hash,
            "person": person_id,
            "account": account_id,
            "name": KEY_NAME,
            "secret": secrets.token_bytes(32),
            **note_parameters(Actor(account_id, person_id), Action.SIGNED_IN),
        },
        bool,
        repeatable=False,
    )


def end_own_session(person_id: UUID, token_hash: bytes) -> Statement[bool]:
    """Sign a person out in one of their browsers; returns false where it was no longer signed in."""
    return Statement(
        "DELETE FROM session WHERE token_hash = %(token)s AND person_id = %(person)s RETURNING 1 AS ended",
        {"token": token_hash, "person": person_id},
        bool,
    )


def end_unfinished(person_id: UUID) -> Statement[int]:
    """End the sign-ins that a person, or somebody with their password, has begun and not finished."""
    return Statement(
        "DELETE FROM sign_in_step WHERE person_id = %(person)s RETURNING 1 AS ended", {"person": person_id}, len
    )


def end_sessions(person_id: UUID, *, but: bytes | None = None) -> Statement[int]:
    """Sign a person out everywhere, but in the browser with this token's hash; return in how many."""
    return Statement(
        "DELETE FROM session WHERE person_id = %(person)s AND token_hash IS DISTINCT FROM %(but)s RETURNING 1 AS ended",
        {"person": person_id, "but": but},
        len,
    )


def list_sessions(person_id: UUID, *, idle: timedelta) -> Statement[list[Row]]:
    """Return a person's sessions and their accounts' names, last used first."""
    return Statement(
        "SELECT s.token_hash, a.name AS account, s.created_at, s.last_seen_at, s.expires_at, s.browser, s.address"
        " FROM session s JOIN account a ON a.id = s.account_id"
        " WHERE s.person_id = %(person)s AND s.expires_at > now() AND s.last_seen_at > now() - %(idle)s"
        " ORDER BY s.last_seen_at DESC LIMIT 100",
        {"person": person_id, "idle": idle},
    )


def _session(
    token: str, *, account_id: UUID, person_id: UUID, api_key_id: UUID, tier: str, role: str, **others: Any
) -> Session:
    caller = Caller(account_id=account_id, api_key_id=api_key_id, tier=tier, person_id=person_id)
    return Session(csrf_token=csrf_token_of(token), caller=caller, role=Role(role), person_id=person_id, **others)


#: As long as an address may be (RFC 5321, section 4.5.3.1.3).
MAX_EMAIL_LENGTH = 254
#: No mark that makes a list, a group or a comment of an address in a mail's header (RFC 5322, section 3.4).
_PART = r"""[^@\s\x00-\x1f,;:<>()\[\]"\\]+"""
EMAIL = re.compile(f"{_PART}@{_PART}")


class EmailInvalid(InvalidRequest):
    """The text is not an e-mail address."""

    code = "email_invalid"


@dataclass(frozen=True, slots=True)
class Person:
    """A person who signs in, and the account that they sign in to."""

    id: UUID
    account_id: UUID
    password_hash: str | None
    is_suspended: bool


def read_email(text: str) -> str:
    """Return an e-mail address as it is stored: in small letters. Raises EmailInvalid."""
    email = text.strip().lower()
    if len(email) > MAX_EMAIL_LENGTH or not EMAIL.fullmatch(email):
        raise EmailInvalid(f"{text.strip()[:60]!r} is not an e-mail address: it looks like you@example.com.")
    return email


_PERSON = SQL(
    "SELECT p.id, m.account_id, p.password_hash, a.suspended_at IS NOT NULL AS is_suspended FROM person p"
    " JOIN membership m ON m.person_id = p.id JOIN account a ON a.id = m.account_id"
    # The first account that the person joined and that is not suspended.
    " WHERE {one} ORDER BY a.suspended_at IS NOT NULL, m.created_at, m.account_id, p.id LIMIT 1"
)
_BY_EMAIL = _PERSON.format(one=SQL("p.email = %(email)s"))
_BY_ID = _PERSON.format(one=SQL("p.id = %(id)s"))
_OWNER = _PERSON.format(one=SQL("m.account_id = %(account)s AND m.role = 'owner'"))


def find_person(email: str) -> Statement[Person | None]:
    return Statement(_BY_EMAIL, {"email": email}, row_of(Person))


def find_person_by_id(person_id: UUID) -> Statement[Person | None]:
    return Statement(_BY_ID, {"id": person_id}, row_of(Person))


def find_owner(account_id: UUID) -> Statement[Person | None]:
    """Find the first of an account's owners."""
    return Statement(_OWNER, {"account": account_id}, row_of(Person))
