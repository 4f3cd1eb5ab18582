"""API keys: their format, and how they are found. The secret itself is never stored."""

import hashlib
import re
import secrets
import string
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from pipeline.accounts.audit import Actor
from pipeline.database import SQL, Row, Statement, nothing
from pipeline.lifecycle import Priority

PREFIX = "pr_live_"
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
SECRET_LENGTH = 32
#: Six base62 digits hold any CRC-32.
CHECKSUM_LENGTH = 6
#: Highest limits that a key may be given. Both fit the database.
MAX_REQUESTS = 1_000_000
MAX_CREDITS = 10**15
#: Anything that looks like a key, whole or in part.
ANY_KEY = re.compile(PREFIX + r"[0-9A-Za-z]+")


def _checksum(secret: str) -> str:
    rest = zlib.crc32((PREFIX + secret).encode())
    digits = ""
    for _ in range(CHECKSUM_LENGTH):
        rest, digit = divmod(rest, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made; `secret` is shown once and only its hash is kept."""

    id: UUID
    secret: str

    @property
    def hash(self) -> bytes:
        return hash_key(self.secret)

    @property
    def hint(self) -> str:
        """The end of the secret, by which its owner can tell keys apart."""
        return self.secret[-4:]


def make_key() -> NewKey:
    """Return a new random key: 190 bits and a checksum."""
    secret = "".join(secrets.choice(ALPHABET) for _ in range(SECRET_LENGTH))
    return NewKey(uuid4(), PREFIX + secret + _checksum(secret))


def is_well_formed(key: str) -> bool:
    """Return whether the text can be a key at all; most guesses are refused here, without the database."""
    body = key.removeprefix(PREFIX)
    if len(key) - len(body) != len(PREFIX) or len(body) != SECRET_LENGTH + CHECKSUM_LENGTH or not body.isascii():
        return False
    return secrets.compare_digest(_checksum(body[:SECRET_LENGTH]), body[SECRET_LENGTH:])


def redact(text: str) -> str:
    """Return a text without the keys that somebody put there by mistake."""
    return ANY_KEY.sub(f"{PREFIX}[…]", text) if PREFIX in text else text


def hash_key(key: str) -> bytes:
    """Return the hash under which a key is stored: its 190 random bits need no salt and no slow hash."""
    return hashlib.sha256(key.encode()).digest()


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """A key's own limits, beside those of its account; None is no limit."""

    requests_per_minute: int | None = None
    #: Credits that may be captured in a month of UTC; what is held counts.
    credits_per_month: int | None = None
    #: Paths that it may be used for, and what has an id below them.
    routes: tuple[str, ...] | None = None
    #: Priority of requests that name none.
    priority: Priority = "normal"


#: A key that may do all that its account may.
NO_LIMITS = KeyLimits()


@dataclass(frozen=True, slots=True)
class Caller:
    """The account and key that sent a request, with the key's limits; None is no limit.

    The database checks a key's monthly credits when it holds credits."""

    account_id: UUID
    api_key_id: UUID
    tier: str
    requests_per_minute: int | None = None
    routes: tuple[str, ...] | None = None
    has_limits: bool = False
    is_suspended: bool = False
    priority: Priority = "normal"
    #: The person of a session.
    person_id: UUID | None = None

    @property
    def actor(self) -> Actor:
        """The actor for the audit log: the person or, without a session, the key."""
        return Actor(self.account_id, self.person_id, None if self.person_id else self.api_key_id)

    def may_use(self, route: str) -> bool:
        """Return whether the key may be used for a route, given as the template of its path.

        A key's route allows the path itself and what has an id below it: /indexing/jobs allows
        /indexing/jobs/{job_id}/urls, and /tts does not allow /tts/batch."""
        return self.routes is None or allows(self.routes, route)


def allows(routes: Collection[str], route: str) -> bool:
    """Return whether a key's routes allow a route (`Caller.may_use`)."""
    return any(route == one or route.startswith(f"{one}/{{") for one in routes)


_SELECT_CALLER = (
    "SELECT k.account_id, k.id AS api_key_id, a.tier, k.requests_per_minute, k.routes,"
    " num_nonnulls(k.requests_per_minute, k.credits_per_month, k.routes) > 0 AS has_limits,"
    " a.suspended_at IS NOT NULL AS is_suspended, k.priority FROM api_key k JOIN account a ON a.id = k.account_id"
)


def find_caller(key_hash: bytes) -> Statement[Caller | None]:
    """Look a key up; None when it is unknown or revoked."""
    return Statement(f"{_SELECT_CALLER} WHERE k.hash = %(hash)s AND k.revoked_at IS NULL", {"hash": key_hash}, _caller)


#: The condition that a key is not limited to other routes than %(route)s, as `Caller.may_use` has it.
_MAY_USE = (
    "(k.routes IS NULL OR EXISTS (SELECT FROM unnest(k.routes) r"
    " WHERE r = %(route)s::text OR starts_with(%(route)s::text, r || '/{')))"
)


def find_payer(account_id: UUID, api_key_id: UUID, *, route: str) -> Statement[Caller | None]:
    """Return the key that pays for a retry: the one that paid before, else the one last used.

    None when the account has no valid key for the route."""
    return Statement(
        f"{_SELECT_CALLER} WHERE k.account_id = %(account)s AND k.revoked_at IS NULL AND {_MAY_USE}"
        " ORDER BY k.id = %(key)s DESC, k.last_used_at DESC NULLS LAST LIMIT 1",
        {"account": account_id, "key": api_key_id, "route": route},
        _caller,
    )


def _caller(rows: list[Row]) -> Caller | None:
    return Caller(**{**rows[0], "routes": _tuple(rows[0]["routes"])}) if rows else None


def _tuple(routes: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if routes is None else tuple(routes)


def touch_keys(key_ids: Sequence[UUID]) -> Statement[None]:
    """Note that keys were used just now."""
    return Statement(
        # Locked in order of id: two processes note the same keys at once.
        "WITH used AS (SELECT id FROM api_key WHERE id = ANY(%(ids)s) ORDER BY id FOR NO KEY UPDATE)"
        " UPDATE api_key k SET last_used_at = now() FROM used WHERE k.id = used.id RETURNING 1 AS touched",
        {"ids": list(key_ids)},
        nothing,
    )


INSERT_KEY = SQL(
    "INSERT INTO api_key (id, account_id, name, hash, hint, requests_per_minute, credits_per_month, routes,"
    " priority, person_id, ends_with_person) SELECT %(id)s, %(account)s, %(name)s, %(hash)s, %(hint)s,"
    " %(requests_per_minute)s::integer, %(credits_per_month)s::bigint, %(routes)s::text[], %(priority)s,"
    # A key that makes another one passes on who made it, and that it ends with them.
    " coalesce(%(person)s, (SELECT m.person_id FROM api_key m WHERE m.id = %(maker)s)), %(ends_with_person)s"
    " OR EXISTS (SELECT FROM api_key m WHERE m.id = %(maker)s AND m.ends_with_person)"
)


def key_columns(
    maker: Actor, key: NewKey, name: str, limits: KeyLimits, *, ends_with_person: bool = False
) -> dict[str, Any]:
    """Return the parameters of INSERT_KEY."""
    return {
        "id": key.id,
        "account": maker.account_id,
        "person": maker.person_id,
        "maker": maker.api_key_id,
        "ends_with_person": ends_with_person,
        "name": name,
        "hash": key.hash,
        "hint": key.hint,
        "requests_per_minute": limits.requests_per_minute,
        "credits_per_month": limits.credits_per_month,
        "routes": None if limits.routes is None else list(limits.routes),
        "priority": limits.priority,
    }


def add_key(account_id: UUID, key: NewKey, name: str, limits: KeyLimits = NO_LIMITS) -> Statement[None]:
    """Give an account another key."""
    return Statement(
        f"{INSERT_KEY} RETURNING id", key_columns(Actor(account_id), key, name, limits), nothing, repeatable=False
    )


def revoke_key(key_id: UUID) -> Statement[Row | None]:
    """Refuse a key from now on, everywhere within seconds; None when there is no such key."""
    return Statement(
        "UPDATE api_key SET revoked_at = coalesce(revoked_at, now()) WHERE id = %(id)s RETURNING name, revoked_at",
        {"id": key_id},
        lambda rows: rows[0] if rows else None,
    )
