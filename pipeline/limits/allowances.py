"""Allowances: requests that a process admits by itself and reports to Redis a moment later (docs/decisions/0044).

While an account is far from its limits, its requests don't wait for Redis. A process trusts the last count that it has
read for a second, for a small share of the limit, and only while much is left."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

from pipeline.limits.counts import Count, Use

#: One part in twenty of each limit may be admitted before Redis has counted it, and never more than MOST_AHEAD.
SHARE = 20
MOST_AHEAD = 64
#: With less than four times that left, each request is counted in Redis first, so refusals are exact.
EXACT_BELOW = 4
#: How long a count is trusted: other processes admit requests as well.
MAX_AGE_SECONDS = 1.0
#: Redis is told within this time, and at once when half the allowance is used.
TELL_WITHIN_SECONDS = 0.1
#: Accounts remembered; past that, those with nothing to report are forgotten.
MAX_ACCOUNTS = 10_000


def most_ahead(use: Use) -> int:
    """Return how many requests may be admitted before they are counted; none for a key with a limit of its own."""
    if use.part_per_minute:
        return 0
    limits = [limit for limit in (use.per_minute, use.per_day) if limit]
    return min((*(limit // SHARE for limit in limits), MOST_AHEAD)) if limits else 0


class _Account:
    """An account's last count, and the requests admitted since."""

    def __init__(self, use: Use) -> None:
        self.use = use
        self.count: Count | None = None
        self.read_at = 0.0
        self.untold = 0
        self.being_told = 0
        self.timer: asyncio.TimerHandle | None = None
        self.tellers: set[asyncio.Task[None]] = set()

    @property
    def ahead(self) -> int:
        """Requests that the count does not have."""
        return self.untold + self.being_told


class Allowances:
    """Admits requests that are surely within limits; `count` counts a use in Redis, or here while Redis is away."""

    def __init__(
        self, count: Callable[[Use], Awaitable[Count]], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._count = count
        self._clock = clock
        self._accounts: dict[str, _Account] = {}

    def take(self, use: Use) -> Count | None:
        """Admit a use, and return the count with it; None: it must be counted in Redis first."""
        account = self._accounts.get(use.name)
        most = most_ahead(use)
        if account is None or account.count is None or not most:
            return None
        if self._clock() - account.read_at > MAX_AGE_SECONDS or account.ahead + use.requests > most:
            return None
        found = _with(account.count, account.ahead + use.requests)
        if _left(use, found) < EXACT_BELOW * most:
            return None
        if use.requests:
            account.use = use
            account.untold += use.requests
            self._tell_soon(account, most)
        return found

    async def catch_up(self, name: str) -> None:
        """Send admitted requests to Redis with the next query."""
        account = self._accounts.get(name)
        if account is not None and account.untold:
            self._tell(account)
            await asyncio.sleep(0)

    def note(self, use: Use, count: Count) -> Count:
        """Keep a count from Redis; return it with the requests that it does not have yet."""
        if not most_ahead(use):
            return count
        account = self._accounts.get(use.name)
        if account is None:
            if len(self._accounts) >= MAX_ACCOUNTS:
                self._accounts = {name: one for name, one in self._accounts.items() if one.ahead}
            account = self._accounts[use.name] = _Account(use)
        account.count = count
        account.read_at = self._clock()
        return _with(count, account.ahead)

    async def tell_all(self) -> None:
        """Count all admitted requests in Redis."""
        for name in list(self._accounts):
            await self.settle(name)

    async def settle(self, name: str) -> None:
        """Count all requests admitted under a name in Redis."""
        account = self._accounts.get(name)
        while account is not None and account.ahead:
            if account.untold:
                self._tell(account)
            await asyncio.wait(account.tellers)

    def _tell_soon(self, account: _Account, most: int) -> None:
        if 2 * account.untold >= most:
            self._tell(account)
        elif account.timer is None:
            account.timer = asyncio.get_running_loop().call_later(TELL_WITHIN_SECONDS, self._tell, account)

    def _tell(self, account: _Account) -> None:
        if account.timer is not None:
            account.timer.cancel()
            account.timer = None
        requests, account.untold = account.untold, 0
        account.being_told += requests
        task = asyncio.get_running_loop().create_task(self._count_admitted(account, requests))
        account.tellers.add(task)
        task.add_done_callback(account.tellers.discard)

    async def _count_admitted(self, account: _Account, requests: int) -> None:
        try:
            await self._count(replace(account.use, requests=requests, is_admitted=True))
        finally:
            account.being_told -= requests


def _with(count: Count, requests: int) -> Count:
    return replace(count, minute_used=count.minute_used + requests, day_used=count.day_used + requests)


def _left(use: Use, count: Count) -> int:
    left = [
        limit - used for limit, used in ((use.per_minute, count.minute_used), (use.per_day, count.day_used)) if limit
    ]
    return min(left)
