"""Auth: whose request it is, by its API key: of a header, the query string or the body."""

import asyncio
import time
from collections.abc import Callable
from uuid import UUID

import falcon.asgi

from pipeline.accounts.keys import Caller, find_caller, hash_key, is_well_formed, touch_keys
from pipeline.database import AsyncDatabase
from pipeline.errors import AccountSuspended, ServiceUnavailable, Unauthorized
from pipeline.limits.rate_limits import RateLimits
from pipeline.log import get_logger

log = get_logger(__name__)

#: Keys that a process remembers; the oldest is forgotten first.
MAX_CACHED = 10_000
#: How often the use of keys is written down.
TOUCH_EVERY_SECONDS = 5.0
BEARER = "bearer "


def header_key(req: falcon.asgi.Request) -> str | None:
    """Return the key of a header, if there is one."""
    if key := req.get_header("X-API-Key"):
        return key.strip()
    authorization = req.get_header("Authorization") or ""
    if authorization[: len(BEARER)].lower() == BEARER:
        return authorization[len(BEARER) :].strip()
    return None


def query_key(req: falcon.asgi.Request) -> str | None:
    """Return the key of the query string; one that is given twice counts once."""
    return req.get_param("api_key")


class Authenticator:
    """Looks keys up, and remembers what it found for a few seconds."""

    def __init__(self, database: AsyncDatabase, limits: RateLimits, *, max_age_seconds: float) -> None:
        self._database = database
        self._limits = limits
        self._max_age_seconds = max_age_seconds
        self._known: dict[bytes, tuple[Caller, float]] = {}
        self._asked: dict[bytes, asyncio.Task[Caller | None]] = {}
        self._used: set[UUID] = set()

    async def caller(self, key: object, *, address: Callable[[], str]) -> Caller:
        """Return whose key it is. `address` tells where the request comes from, which only a wrong key is asked.

        Raises Unauthorized, AccountSuspended, or RateLimitExceeded when the address has sent too many that are none."""
        found = await self.find(key)
        if found is None:
            if key:  # a request without a key guesses none
                await self._limits.count_invalid(address())
            raise Unauthorized
        if found.is_suspended:
            raise AccountSuspended
        return found

    async def find(self, key: object) -> Caller | None:
        """Return whose key it is, None for one that is malformed, unknown or revoked."""
        if not isinstance(key, str) or not key.isascii():
            return None
        digest = hash_key(key)
        known = self._known.get(digest)
        if known is not None and known[1] > time.monotonic():
            return known[0]
        if not is_well_formed(key):
            return None
        return await self._look_up(digest)

    def forget(self, api_key_id: UUID) -> None:
        """Look a key up anew the next time it comes: it was changed or deleted here."""
        for digest in [digest for digest, (caller, _) in self._known.items() if caller.api_key_id == api_key_id]:
            del self._known[digest]

    async def touch(self) -> None:
        """Write to the database which keys were used, for ever, one statement every few seconds."""
        while True:
            await asyncio.sleep(TOUCH_EVERY_SECONDS)
            used, self._used = self._used, set()
            if not used:
                continue
            try:
                await self._database.run(touch_keys(sorted(used)))
            except ServiceUnavailable:
                self._used |= used

    async def _look_up(self, digest: bytes) -> Caller | None:
        # Single-flight: requests with the same key wait for one look-up.
        asked = self._asked.get(digest)
        if asked is None:
            asked = self._asked[digest] = asyncio.create_task(self._read(digest))
            asked.add_done_callback(lambda _: self._asked.pop(digest, None))
        return await asyncio.shield(asked)

    async def _read(self, digest: bytes) -> Caller | None:
        until = time.monotonic() + self._max_age_seconds
        found = await self._database.run(find_caller(digest))
        self._known.pop(digest, None)
        if found is None:
            return None
        self._used.add(found.api_key_id)
        if len(self._known) >= MAX_CACHED:
            del self._known[next(iter(self._known))]
        self._known[digest] = (found, until)
        return found
