"""Rate limits: how many requests an account, or an address with wrong keys, may make.

A minute is a window that moves, a day is one of the UTC calendar. Counted in Redis by the `limits` library; while
Redis is away each process counts by itself, so that no request fails because of it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import TypeVar
from uuid import UUID

import redis.asyncio
from limits.aio.storage import MemoryStorage, RedisStorage
from redis.exceptions import RedisError

from pipeline.batching import Batch
from pipeline.errors import RateLimitExceeded
from pipeline.log import get_logger
from pipeline.settings import LimitSettings, TierLimits

log = get_logger(__name__)
Result = TypeVar("Result")
Storage = RedisStorage | MemoryStorage

MINUTE_SECONDS = 60
DAY_SECONDS = 86_400
#: How long Redis is left alone after it failed.
AWAY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Standing:
    """How near an account is to a limit. `resets_at` is in epoch seconds."""

    limit: int
    remaining: int
    resets_at: float
    is_admitted: bool = True

    def headers(self) -> dict[str, str]:
        """Return what every authenticated answer says."""
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.remaining),
            "x-ratelimit-reset": str(ceil(self.resets_at)),
        }

    def retry_after(self) -> timedelta:
        """Return how long a refused caller should wait."""
        return timedelta(seconds=max(1, ceil(self.resets_at - time.time())))


class AccountLimitExceeded(RateLimitExceeded):
    """The account has used its requests up."""

    def __init__(self, standing: Standing, unit: str) -> None:
        super().__init__(
            f"This account may make {standing.limit:,} requests a {unit} and has made them. "
            f"Try again in {standing.retry_after().seconds:,} seconds.",
            retry_after=standing.retry_after(),
        )
        self.standing = standing


class RateLimits:
    """Admits requests, or refuses them with the time to come back."""

    def __init__(self, client: "redis.asyncio.Redis", settings: LimitSettings) -> None:
        self._settings = settings
        self._shared = _batched(client)
        self._own = MemoryStorage()
        self._away_until = 0.0

    async def admit(self, account_id: UUID, tier: str, requests: int) -> Standing | None:
        """Count requests; admitted while at least one is left, so a batch may overdraw and later ones wait.

        Returns the standing nearer to its end, None for a tier without limits. Raises AccountLimitExceeded.
        """
        limits = self._tier(tier)
        minute, day = await asyncio.gather(
            self._count_minute(f"account/{account_id}", limits.per_minute, requests),
            self._count_day(str(account_id), limits.per_day, requests),
        )
        if day is not None and not (day.is_admitted and (minute is None or minute.is_admitted)):
            await self.give_back(account_id, tier, requests)
        if day is not None and not day.is_admitted:
            raise AccountLimitExceeded(day, "day")
        if minute is not None and not minute.is_admitted:
            raise AccountLimitExceeded(minute, "minute")
        return _nearer(minute, day)

    async def standing(self, account_id: UUID, tier: str) -> Standing | None:
        """Return how near an account is to a limit, and count nothing."""
        limits = self._tier(tier)
        return _nearer(
            *await asyncio.gather(
                self._read_minute(f"account/{account_id}", limits.per_minute),
                self._count_day(str(account_id), limits.per_day, 0),
            )
        )

    async def give_back(self, account_id: UUID, tier: str, requests: int) -> None:
        """Take requests of today back: they were refused, or answered before."""
        if self._tier(tier).per_day:
            await self._try(lambda storage: storage.incr(_day_key(str(account_id)), DAY_SECONDS, -requests))

    async def count_invalid(self, address: str) -> None:
        """Count a wrong key against its address. Raises RateLimitExceeded past the limit."""
        limit = self._settings.invalid_keys_per_minute
        standing = await self._count_minute(f"address/{address}", limit, 1)
        if standing is not None and not standing.is_admitted:
            raise RateLimitExceeded(
                f"This address has sent {limit:,} invalid API keys within a minute. "
                f"Check the key and try again in {standing.retry_after().seconds:,} seconds.",
                code="too_many_invalid_keys",
                retry_after=standing.retry_after(),
            )

    def _tier(self, tier: str) -> TierLimits:
        limits: TierLimits = getattr(self._settings, tier)
        return limits

    async def _count_minute(self, name: str, limit: int, requests: int) -> Standing | None:
        if not limit:
            return None
        key = f"minute/{name}"
        # More than the limit need not be remembered; widening it by the cost leaves "at least one is left" as the test.
        cost = min(requests, limit)
        admitted, standing = await asyncio.gather(
            self._try(lambda storage: storage.acquire_entry(key, limit + cost - 1, MINUTE_SECONDS, cost)),
            self._read_minute(name, limit),
        )
        return Standing(limit, standing.remaining, standing.resets_at, bool(admitted)) if standing else None

    async def _read_minute(self, name: str, limit: int) -> Standing | None:
        if not limit:
            return None
        since, used = await self._try(
            lambda storage: storage.get_moving_window(f"minute/{name}", limit, MINUTE_SECONDS)
        )
        return Standing(limit, max(0, limit - used), since + MINUTE_SECONDS)

    async def _count_day(self, name: str, limit: int, requests: int) -> Standing | None:
        if not limit:
            return None
        used = await self._try(lambda storage: storage.incr(_day_key(name), DAY_SECONDS, requests))
        midnight = (time.time() // DAY_SECONDS + 1) * DAY_SECONDS
        return Standing(limit, max(0, limit - used), midnight, is_admitted=used - requests < limit)

    async def _try(self, use: Callable[[Storage], Awaitable[Result]]) -> Result:
        if time.monotonic() >= self._away_until:
            try:
                return await use(self._shared)
            except (RedisError, OSError) as error:
                self._away_until = time.monotonic() + AWAY_SECONDS
                log.warning("rate limits out of reach, counting in this process", error=str(error))
        return await use(self._own)


def _batched(client: "redis.asyncio.Redis") -> RedisStorage:
    """Return the library's storage on our connections, its scripts run in batches and so in the order of asking."""
    storage = RedisStorage(
        "async+redis://",
        implementation="redispy",
        connection_pool=client.connection_pool,  # type: ignore[arg-type]  # as the library documents it
    )
    batch = Batch(client)
    for script in ("lua_acquire_moving_window", "lua_moving_window", "lua_incr_expire"):
        getattr(storage.bridge, script).registered_client = batch
    return storage


def _day_key(name: str) -> str:
    return f"day/{int(time.time() // DAY_SECONDS)}/{name}"


def _nearer(*standings: Standing | None) -> Standing | None:
    known = [standing for standing in standings if standing is not None]
    return min(known, key=lambda standing: standing.remaining, default=None)
