"""Rate limits: how many requests an account, one of its keys, or an address with wrong keys, may make.

A minute is a window that moves, a day is one of the UTC calendar. Far from its limits an account's requests are
admitted before Redis has counted them (`allowances.py`). While Redis is away each process counts by itself, so that no
request fails because of it."""

import time
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

import redis.asyncio

from pipeline.accounts.keys import Caller
from pipeline.errors import RateLimitExceeded
from pipeline.limits.allowances import Allowances
from pipeline.limits.counts import DAY_SECONDS, MINUTE_SECONDS, Count, LocalCounts, SharedCounts, Use
from pipeline.log import get_logger
from pipeline.settings import LimitSettings, TierLimits
from pipeline.wakes.redis_away import REDIS_AWAY

log = get_logger(__name__)

#: Value of headers without a limit: the largest whole number that a structured field of HTTP can have (RFC
#: 8941, section 3.3.1). Clients that compare numbers need no case of its own for it, as they would for a word or -1.
NO_LIMIT = 999_999_999_999_999
#: How long Redis is left alone after it failed.
AWAY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class RateLimitStatus:
    """How near an account is to a limit. `resets_at` is in epoch seconds."""

    limit: int
    remaining: int
    resets_at: float

    def headers(self) -> dict[str, str]:
        """Return the headers of every authenticated answer."""
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.remaining),
            "x-ratelimit-reset": str(ceil(self.resets_at)),
        }

    def retry_after(self) -> timedelta:
        """Return how long a refused caller should wait."""
        return timedelta(seconds=max(1, ceil(self.resets_at - time.time())))


class AccountLimitExceeded(RateLimitExceeded):
    """The account, or one of its keys, has used its requests up."""

    def __init__(
        self, status: RateLimitStatus, unit: str, *, who: str = "This account", code: str | None = None
    ) -> None:
        super().__init__(
            f"{who} may make {status.limit:,} requests a {unit} and has made them. "
            f"Try again in {status.retry_after().total_seconds():,.0f} seconds.",
            retry_after=status.retry_after(),
            code=code,
        )
        self.rate_limit = status


class RateLimits:
    """Admits requests, or refuses them and says when to try again."""

    def __init__(self, client: "redis.asyncio.Redis", settings: LimitSettings) -> None:
        self._settings = settings
        self._shared = SharedCounts(client)
        self._local = LocalCounts()
        self._away_until = 0.0
        self._allowances = Allowances(self._count)

    async def admit(self, caller: Caller, requests: int) -> RateLimitStatus:
        """Count requests; admitted while at least one is left, so a batch may overdraw and later ones wait.

        Returns the limit that is nearest. Raises AccountLimitExceeded."""
        use = self._caller_use(caller, requests)
        count = self._allowances.take(use) or await self._ask(use)
        minute, day, part = _statuses(use, count)
        if day is not None and not count.day_admitted:
            raise AccountLimitExceeded(day, "day")
        if part is not None and not count.part_admitted:
            raise AccountLimitExceeded(part, "minute", who="This API key", code="key_rate_limit_exceeded")
        if minute is not None and not count.minute_admitted:
            raise AccountLimitExceeded(minute, "minute")
        return _nearest(minute, day, part)

    async def status(self, caller: Caller) -> RateLimitStatus:
        """Return how near a caller is to a limit, and count nothing."""
        use = self._caller_use(caller, 0)
        return _nearest(*_statuses(use, self._allowances.take(use) or await self._ask(use)))

    async def give_back(self, caller: Caller, requests: int) -> None:
        """Take requests off today's count: they were answered before. The minute's stays: it ends soon."""
        use = self._caller_use(caller, requests)
        if not use.per_day:
            return
        await self._allowances.settle(use.name)
        try:
            await self._shared.give_back(use)
        except REDIS_AWAY:
            await self._local.give_back(use)

    async def close(self) -> None:
        """Have everything counted in Redis that was admitted."""
        await self._allowances.tell_all()

    async def count_invalid(self, address: str) -> None:
        """Count a wrong key against its address. Raises RateLimitExceeded past the limit."""
        limit = self._settings.invalid_keys_per_minute
        use = Use(f"address:{address}", limit, 0, 1)
        count = await self._count(use)
        minute, *_ = _statuses(use, count)
        if minute is not None and not count.minute_admitted:
            wait = minute.retry_after()
            raise RateLimitExceeded(
                f"This address has sent {limit:,} invalid API keys within a minute. "
                f"Check the key and try again in {wait.total_seconds():.0f} seconds.",
                code="too_many_invalid_keys",
                retry_after=wait,
            )

    def _caller_use(self, caller: Caller, requests: int) -> Use:
        limits: TierLimits = getattr(self._settings, caller.tier)
        return Use(
            f"account:{caller.account_id}",
            limits.per_minute,
            limits.per_day,
            requests,
            part=f"key:{caller.api_key_id}",
            part_per_minute=caller.requests_per_minute or 0,
        )

    async def _ask(self, use: Use) -> Count:
        await self._allowances.catch_up(use.name)
        return await self._count(use)

    async def _count(self, use: Use) -> Count:
        if not (use.per_minute or use.per_day or use.part_per_minute):
            return Count(True, 0, 0.0, True, 0, True, 0, 0.0)
        if time.monotonic() >= self._away_until:
            try:
                return self._allowances.note(use, await self._shared.use(use))
            except REDIS_AWAY as error:
                self._away_until = time.monotonic() + AWAY_SECONDS
                log.warning("rate limits out of reach, counting in this process", error=str(error))
        return await self._local.use(use)


Statuses = tuple[RateLimitStatus | None, RateLimitStatus | None, RateLimitStatus | None]


def _statuses(use: Use, count: Count) -> Statuses:
    """Return where a caller stands: in the account's minute, its day, and the key's minute."""
    midnight = (time.time() // DAY_SECONDS + 1) * DAY_SECONDS
    return (
        _status(use.per_minute, count.minute_used, count.minute_since + MINUTE_SECONDS),
        _status(use.per_day, count.day_used, midnight),
        _status(use.part_per_minute, count.part_used, count.part_since + MINUTE_SECONDS),
    )


def _status(limit: int, used: int, resets_at: float) -> RateLimitStatus | None:
    return RateLimitStatus(limit, max(0, limit - used), resets_at) if limit else None


def _nearest(*statuses: RateLimitStatus | None) -> RateLimitStatus:
    """Return the limit that is nearer to its end; one that is never reached, where there is none."""
    limits = [one for one in statuses if one is not None]
    return min(limits, key=lambda one: one.remaining, default=RateLimitStatus(NO_LIMIT, NO_LIMIT, time.time()))
