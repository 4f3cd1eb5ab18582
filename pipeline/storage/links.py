"""Links: URLs that show an artifact without a key, until they expire.

A link is `/files/{name}?expires=…&signature=…`. The name encodes an artifact's key and can encode nothing else, so that
no name leads to another file; the signature covers name, expiry and the number of its signing key."""

import base64
import binascii
import hashlib
import hmac
import re
import secrets
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from pipeline.database import Statement, nothing, rows_of
from pipeline.errors import Forbidden, Gone
from pipeline.storage.artifacts import artifact_key

SECRET_BYTES = 32
#: Every signed text begins with this, so that a signature is good for files and for nothing else.
PURPOSE = "pressroom file 1"
#: A new key signs only after this time, in which every process reads the keys several times.
SETTLES_AFTER = timedelta(minutes=5)

#: Highest index of an item that has a name; nine digits.
MAX_INDEX = 999_999_999

_KEY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})/([0-9a-f-]{36})/([0-9]{1,9})/([0-9a-f-]{36})([a-z0-9.-]{0,16})")
#: Days since 1970, job, index, lease.
_PLACE = struct.Struct(">H16sI16s")
_FIRST_DAY = date(1970, 1, 1).toordinal()
_NAME = re.compile(r"([A-Za-z0-9_-]{51})([a-z0-9.-]{0,16})")
_QUERY = re.compile(r"expires=([1-9][0-9]{0,10})&signature=([0-9]{1,9})\.([A-Za-z0-9_-]{43})")


class LinkInvalid(Forbidden):
    """The link is not one of ours, or not as we made it; which of them is not told."""

    code = "link_invalid"
    field = "signature"
    message = "This link is not as it was made. Use it unchanged, with all that stands after the question mark."


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A secret and its number; `is_settled` when all processes know it."""

    id: int
    secret: bytes = field(repr=False)
    is_settled: bool = True


def file_name(artifact: str) -> str:
    """Return the name that an artifact has in links. Raises ValueError for what is not an artifact's key."""
    found = _KEY.fullmatch(artifact)
    if found is None:
        raise ValueError(f"{artifact!r} is not an artifact's key.")
    day, job_id, index, lease_id, suffix = found.groups()
    days = date.fromisoformat(day).toordinal() - _FIRST_DAY
    place = _PLACE.pack(days, UUID(job_id).bytes, int(index), UUID(lease_id).bytes)
    return _encode(place) + suffix


def artifact_of(name: str) -> str:
    """Return the key of the artifact that a link names. Raises LinkInvalid for what is not a name."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise LinkInvalid
    place, suffix = found.groups()
    days, job_id, index, lease_id = _PLACE.unpack(_decode(place))
    if index > MAX_INDEX:
        raise LinkInvalid
    return artifact_key(
        expires_on=date.fromordinal(_FIRST_DAY + days),
        job_id=UUID(bytes=job_id),
        index=index,
        lease_id=UUID(bytes=lease_id),
        suffix=suffix,
    )


def title_of(name: str) -> str:
    """Return the name for a file saved from a link: its maker added it to the key."""
    found = _NAME.fullmatch(name)
    return found[2].lstrip("-.") if found else ""


def sign_link(artifact: str, expires_at: datetime, keys: Sequence[SigningKey]) -> str:
    """Return the path and query of a link, signed with the newest key that every process knows."""
    key = next((key for key in reversed(keys) if key.is_settled), keys[0])
    name = file_name(artifact)
    expires = int(expires_at.timestamp())
    return f"/files/{name}?expires={expires}&signature={key.id}.{_signature(key, name, expires)}"


def verify_link(name: str, query: str, keys: Sequence[SigningKey], *, now: datetime) -> datetime:
    """Return when a link expires. Raises LinkInvalid, and Gone when it is ours and its time is over.

    The query must be exactly as it was made: anything missing, added, doubled or encoded otherwise is refused."""
    found = _QUERY.fullmatch(query)
    if found is None or _NAME.fullmatch(name) is None:
        raise LinkInvalid
    expires, key_id, signature = int(found[1]), int(found[2]), found[3]
    key = next((key for key in keys if key.id == key_id and str(key.id) == found[2]), None)
    if key is None or not hmac.compare_digest(signature, _signature(key, name, expires)):
        raise LinkInvalid
    expires_at = datetime.fromtimestamp(expires, UTC)
    if now >= expires_at:
        message = f"This link expired at {expires_at:%Y-%m-%dT%H:%M:%SZ}; the file was kept as long as promised."
        raise Gone(message, code="link_expired")
    return expires_at


def read_signing_keys() -> Statement[list[SigningKey]]:
    """Read the keys that links are signed with, oldest first."""
    return Statement(
        "SELECT id, secret, created_at < now() - %(settles)s AS is_settled FROM signing_key ORDER BY id",
        {"settles": SETTLES_AFTER},
        rows_of(SigningKey),
    )


def add_first_key() -> Statement[None]:
    """Make the first key; of several processes that try at once, one does."""
    return Statement(
        "INSERT INTO signing_key (id, secret) VALUES (1, %(secret)s) ON CONFLICT DO NOTHING RETURNING 1 AS added",
        {"secret": secrets.token_bytes(SECRET_BYTES)},
        nothing,
    )


def add_next_key() -> Statement[int]:
    """Make another key, which signs from when it has settled; returns its number."""
    return Statement(
        "INSERT INTO signing_key (id, secret) SELECT coalesce(max(id), 0) + 1, %(secret)s FROM signing_key"
        " RETURNING id",
        {"secret": secrets.token_bytes(SECRET_BYTES)},
        lambda rows: int(rows[0]["id"]),
        repeatable=False,
    )


def delete_old_keys() -> Statement[int]:
    """Delete all keys but the newest, and with them all links that they signed; returns how many."""
    return Statement("DELETE FROM signing_key WHERE id < (SELECT max(id) FROM signing_key) RETURNING id", {}, len)


def _signature(key: SigningKey, name: str, expires: int) -> str:
    signed = f"{PURPOSE}\n{key.id}\n{expires}\n{name}".encode()
    return _encode(hmac.digest(key.secret, signed, hashlib.sha256))


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    """Return the bytes that a text encodes. Raises LinkInvalid unless it is their one valid encoding."""
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error:
        raise LinkInvalid from None
    if _encode(data) != text:
        raise LinkInvalid
    return data
