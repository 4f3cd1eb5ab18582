"""Seal: the last member of a backup, a checksum of all before it, signed where PRESSROOM_SECRETS_KEY is set."""

import hashlib
import hmac
import tarfile
from collections.abc import Sequence
from typing import IO

from pipeline.errors import NotReady
from pipeline.settings import Settings

SEAL = "checksum.txt"
NOT_SIGNED = "The backup is not signed with PRESSROOM_SECRETS_KEY. If you know where it comes from, add --unsigned."


def signing_keys(settings: Settings) -> list[str]:
    """Return the keys of PRESSROOM_SECRETS_KEY: the first one signs, any of them verifies."""
    found = settings.secrets_key.get_secret_value() if settings.secrets_key else ""
    return [key.strip() for key in found.split(",") if key.strip()]


def make_seal(file: IO[bytes], size: int, keys: Sequence[str]) -> bytes:
    """Return the seal of a file's first `size` bytes."""
    digest = _digest(file, size)
    return b" ".join([digest, *(_sign(digest, key) for key in keys[:1])])


def check_seal(file: IO[bytes], keys: Sequence[str]) -> None:
    """Check a backup against its seal, and with keys its signature. Raises NotReady."""
    with tarfile.open(fileobj=file) as archive:
        last = archive.getmembers()[-1]
        content = archive.extractfile(last) if last.name == SEAL else None
        sealed, _, signature = (content.read() if content else b"").partition(b" ")
    digest = _digest(file, last.offset)
    if sealed != digest:
        raise NotReady("The backup was cut short or changed after it was made: its checksum is wrong.")
    if keys and not any(hmac.compare_digest(signature, _sign(digest, key)) for key in keys):
        raise NotReady(NOT_SIGNED)


def _digest(file: IO[bytes], size: int) -> bytes:
    found = hashlib.sha256()
    file.seek(0)
    while size and (chunk := file.read(min(size, 2**20))):
        found.update(chunk)
        size -= len(chunk)
    return found.hexdigest().encode()


def _sign(digest: bytes, key: str) -> bytes:
    return hmac.new(key.encode(), b"pressroom backup " + digest, hashlib.sha256).hexdigest().encode()
