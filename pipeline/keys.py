"""API keys: their format, and how they are found. The secret itself is never stored."""

import hashlib
import re
import secrets
import string
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from pipeline.database import Row, Statement

PREFIX = "pr_live_"
ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
SECRET_LENGTH = 32
#: Six base62 digits hold any CRC-32.
CHECKSUM_LENGTH = 6
#: Whatever looks like a key, whole or in part.
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
        """What is stored."""
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
class Caller:
    """Who sent a request: an account, by one of its keys."""

    account_id: UUID
    api_key_id: UUID
    tier: str


def find_caller(key_hash: bytes) -> Statement[Caller | None]:
    """Look a key up; None when it is unknown or revoked."""
    return Statement(
        "SELECT k.account_id, k.id AS api_key_id, a.tier FROM api_key k JOIN account a ON a.id = k.account_id"
        " WHERE k.hash = %(hash)s AND k.revoked_at IS NULL",
        {"hash": key_hash},
        lambda rows: Caller(**rows[0]) if rows else None,
    )


def touch_keys(key_ids: Sequence[UUID]) -> Statement[None]:
    """Note that keys were used just now."""
    return Statement(
        # Locked in order of id: two processes note the same keys at once.
        "WITH used AS (SELECT id FROM api_key WHERE id = ANY(%(ids)s) ORDER BY id FOR NO KEY UPDATE)"
        " UPDATE api_key k SET last_used_at = now() FROM used WHERE k.id = used.id RETURNING 1 AS touched",
        {"ids": list(key_ids)},
        lambda rows: None,
    )


def add_key(account_id: UUID, key: NewKey, name: str) -> Statement[None]:
    """Give an account another key."""
    return Statement(
        "INSERT INTO api_key (id, account_id, name, hash, hint)"
        " VALUES (%(id)s, %(account)s, %(name)s, %(hash)s, %(hint)s) RETURNING id",
        {"id": key.id, "account": account_id, "name": name, "hash": key.hash, "hint": key.hint},
        lambda rows: None,
        repeatable=False,
    )


def revoke_key(key_id: UUID) -> Statement[Row | None]:
    """Refuse a key from now on, everywhere within seconds; None when there is no such key."""
    return Statement(
        "UPDATE api_key SET revoked_at = coalesce(revoked_at, now()) WHERE id = %(id)s RETURNING name, revoked_at",
        {"id": key_id},
        lambda rows: rows[0] if rows else None,
    )
