"""Links: sign and verify the links to files, with a cached copy of the signing keys."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pipeline.database import AsyncDatabase
from pipeline.errors import ServiceUnavailable
from pipeline.kind import FileLink
from pipeline.log import get_logger
from pipeline.storage.links import SigningKey, add_first_key, read_signing_keys, sign_link, verify_link

log = get_logger(__name__)

#: How often the keys are read: the longest life of a deleted one.
REFRESH_SECONDS = 60.0
#: How long a link of a kept job works.
LASTS_AGAIN = timedelta(days=1)


class Links:
    """Signs and verifies links. The first signing key is created on demand."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database
        self._keys: Sequence[SigningKey] = ()
        self._read_at = 0.0
        self._reading = asyncio.Lock()

    async def resolve(self, media: Any, base: str) -> Any:
        """Return an answer with its links as URLs. Raises ServiceUnavailable."""
        return _replace(media, base, await self._current()) if _has_link(media) else media

    async def verify(self, name: str, query: str) -> datetime:
        """Return the expiry of a valid link. Raises LinkInvalid, Gone, ServiceUnavailable."""
        return verify_link(name, query, await self._current(), now=datetime.now(UTC))

    async def _current(self) -> Sequence[SigningKey]:
        is_old = time.monotonic() > self._read_at + REFRESH_SECONDS
        # Others use the known keys meanwhile.
        if not self._keys or (is_old and not self._reading.locked()):
            async with self._reading:
                if not self._keys or time.monotonic() > self._read_at + REFRESH_SECONDS:
                    await self._read()
        return self._keys

    async def _read(self) -> None:
        try:
            keys = await self._database.run(read_signing_keys())
            if not keys:
                await self._database.run(add_first_key())
                keys = await self._database.run(read_signing_keys())
            self._keys = keys
        except ServiceUnavailable as error:
            if not self._keys:
                raise
            log.warning("signing keys not read, going on with the last known ones", error=error.message)
        self._read_at = time.monotonic()


def _has_link(media: Any) -> bool:
    if isinstance(media, Mapping):
        return any(_has_link(value) for value in media.values())
    return isinstance(media, FileLink) or (isinstance(media, list) and any(_has_link(value) for value in media))


def _replace(media: Any, base: str, keys: Sequence[SigningKey]) -> Any:
    match media:
        case FileLink(artifact, expires_at):
            now = datetime.now(UTC)
            # Only a kept job still has an answer with links that have expired.
            return base + sign_link(artifact, expires_at if expires_at > now else now + LASTS_AGAIN, keys)
        case Mapping():
            return {name: _replace(value, base, keys) for name, value in media.items()}
        case list():
            return [_replace(value, base, keys) for value in media]
    return media
