"""Limits of sign-ins: how often an address, and an e-mail whoever asks for it, may try. Without Redis nobody may."""

import hashlib
from datetime import timedelta

import redis.asyncio

from pipeline.errors import RateLimitExceeded, ServiceUnavailable
from pipeline.limits.counts import SharedCounts, Use
from pipeline.settings.settings import DashboardSettings
from pipeline.wakes.redis_away import REDIS_AWAY

#: When to try again, of a minute's limit.
MINUTE = timedelta(minutes=1)


class TooManySignIns(RateLimitExceeded):
    """Somebody tries passwords."""

    code = "too_many_sign_ins"


class SignInUnavailable(ServiceUnavailable):
    """Attempts can't be counted, and so none is allowed."""

    code = "sign_in_unavailable"
    message = "Sign-in is closed while attempts can't be counted. Try again in a few seconds."
    retry_after = timedelta(seconds=5)


class SignInLimits:
    """Counts attempts in Redis."""

    def __init__(self, client: "redis.asyncio.Redis", settings: DashboardSettings) -> None:
        self._counts = SharedCounts(client)
        self._settings = settings

    async def admit(self, *names: str) -> None:
        """Count one attempt for each name, such as an address. Raises TooManySignIns, SignInUnavailable."""
        for name in names:
            await self._count(hashlib.sha256(name.encode()).hexdigest())

    async def _count(self, name: str) -> None:
        per_minute, per_day = self._settings.sign_ins_per_minute, self._settings.sign_ins_per_day
        try:
            count = await self._counts.use(Use(f"sign-in:{name}", per_minute, per_day, 1))
        except REDIS_AWAY as error:
            raise SignInUnavailable from error
        if not count.minute_admitted:
            raise TooManySignIns(
                f"There were {per_minute:,} attempts to sign in within a minute. Try again in a minute.",
                retry_after=MINUTE,
            )
        if not count.day_admitted:
            raise TooManySignIns(
                f"There were {per_day:,} attempts to sign in today. Try again tomorrow, or have an operator make a "
                "link with `pressroom accounts sign-in-link`.",
                retry_after=timedelta(hours=1),
            )
