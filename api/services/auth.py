"""Auth: the caller of a request, by its API key."""

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

#: Most keys cached by a process; the oldest goes first.
MAX_CACHED = 10_000
#: Interval at which the last use of keys is stored.
TOUCH_EVERY_SECONDS = 5.0
BEARER = "bearer "


def header_key(req: falcon.asgi.Request) -> str | None:
    if key := req.get_header("X-API-Key"):
        return key.strip()
    authorization = req.get_header("Authorization") or ""
    if authorization[: len(BEARER)].lower() == BEARER:
        return authorization[len(BEARER) :].strip()
    return None


def query_key(req: falcon.asgi.Request) -> str | None:
    return req.get_param("api_key")


class Authenticator:
    """Looks up keys, and caches callers for a few seconds."""

    def __init__(self, database: AsyncDatabase, limits: RateLimits, *, max_age_seconds: float) -> None:
        self._database = database
        self._limits = limits
        self._max_age_seconds = max_age_seconds
        self._known: dict[bytes, tuple[Caller, float]] = {}
        self._asked: dict[bytes, asyncio.Task[Caller | None]] = {}
        self._used: set[UUID] = set()

    async def caller(self, key: object, *, address: Callable[[], str]) -> Caller:
        """Return the caller. `address` is only called for a wrong key.

        Raises Unauthorized, AccountSuspended, or RateLimitExceeded after too many wrong keys from the address."""
        found = await self.find(key)
        if found is None:
            if key:  # a request without a key is not a guess
                await self._limits.count_invalid(address())
            raise Unauthorized
        if found.is_suspended:
            raise AccountSuspended
        return found

    async def find(self, key: object) -> Caller | None:
        """Return the caller, or None for a malformed, unknown or revoked key."""
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
        """Forget a key that was changed or deleted here."""
        for digest in [digest for digest, (caller, _) in self._known.items() if caller.api_key_id == api_key_id]:
            del self._known[digest]

    async def touch(self) -> None:
        """Store the last use of keys every few seconds. Never returns."""
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
        # Single-flight: requests with the same key share one look-up.
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
