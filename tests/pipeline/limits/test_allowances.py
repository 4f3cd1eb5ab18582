"""Requests that are admitted before Redis has counted them: how many they may be, and that all are counted."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
import redis.asyncio

from pipeline.accounts.keys import Caller
from pipeline.limits.allowances import EXACT_BELOW, MAX_AGE_SECONDS, MOST_AHEAD, Allowances, most_ahead
from pipeline.limits.counts import Count, SharedCounts, Use
from pipeline.limits.rate_limits import AccountLimitExceeded, RateLimits
from pipeline.settings import LimitSettings, TierLimits

PER_MINUTE = 200
AHEAD = PER_MINUTE // 20


def caller(**limits: Any) -> Caller:
    return Caller(uuid4(), uuid4(), "pro", **limits)


@dataclass
class Processes:
    """Some API processes' limits over one Redis, and how often Redis was asked."""

    limits: list[RateLimits]
    asked: list[Use]

    async def counted(self, who: Caller) -> int:
        """Return how many requests Redis has counted of this minute."""
        use = Use(f"account:{who.account_id}", PER_MINUTE, 0, 0)
        return (await SharedCounts(self.client).use(use)).minute_used

    client: Any = None


@pytest.fixture
def processes(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run something with two processes, whose accounts may make 200 requests a minute."""
    asked: list[Use] = []
    count = SharedCounts.use

    async def counted(self: SharedCounts, use: Use) -> Count:
        asked.append(use)
        return await count(self, use)

    def run(work: Callable[[Processes], Awaitable[Any]], *, number: int = 2, per_day: int = 0) -> Any:
        async def with_clients() -> Any:
            monkeypatch.setattr(SharedCounts, "use", counted)
            settings = LimitSettings(pro=TierLimits(per_day=per_day, per_minute=PER_MINUTE))
            clients = [redis.asyncio.Redis.from_url(redis_url) for _ in range(number)]
            found = Processes([RateLimits(client, settings) for client in clients], asked, clients[0])
            try:
                return await work(found)
            finally:
                for client in clients:
                    await client.aclose()

        return asyncio.run(with_clients())

    return run


def test_far_from_the_limit_few_requests_wait_for_redis_and_all_are_counted(processes: Callable[..., Any]) -> None:
    async def work(found: Processes) -> None:
        who, [limits] = caller(), found.limits
        left = [(await limits.admit(who, 1)).remaining for _ in range(100)]
        assert left == [*range(PER_MINUTE - 1, PER_MINUTE - 101, -1)]
        await limits.close()
        assert await found.counted(who) == 100
        # The first, one of each half allowance, and where an allowance was used up before its answer.
        assert len(found.asked) < 50

    processes(work, number=1)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_no_process_admits_more_than_its_allowance_past_the_limit(processes: Callable[..., Any], number: int) -> None:
    async def work(found: Processes) -> None:
        who, admitted = caller(), [0] * number

        async def use_up(process: int) -> None:
            while True:
                try:
                    await found.limits[process].admit(who, 1)
                except AccountLimitExceeded:
                    return
                admitted[process] += 1

        await asyncio.gather(*(use_up(process) for process in range(number)))
        assert PER_MINUTE <= sum(admitted) <= PER_MINUTE + AHEAD * (number - 1)

    processes(work, number=number)


def test_near_the_limit_processes_count_exactly(processes: Callable[..., Any]) -> None:
    async def work(found: Processes) -> None:
        who = caller()
        await found.limits[0].admit(who, PER_MINUTE - EXACT_BELOW * AHEAD)
        left = [(await found.limits[turn % 2].admit(who, 1)).remaining for turn in range(EXACT_BELOW * AHEAD)]
        assert left == [*range(EXACT_BELOW * AHEAD - 1, -1, -1)]
        for limits in found.limits:
            with pytest.raises(AccountLimitExceeded):
                await limits.admit(who, 1)

    processes(work)


def test_what_is_given_back_is_taken_off_the_day_though_it_was_not_counted_yet(processes: Callable[..., Any]) -> None:
    async def work(found: Processes) -> None:
        who, [limits] = caller(), found.limits
        for _ in range(4):
            await limits.admit(who, 1)
            await limits.give_back(who, 1)
        await asyncio.sleep(0.3)
        day = [key async for key in found.client.scan_iter() if str(who.account_id).encode() in key and b":day:" in key]
        assert await found.client.get(day[0]) == b"0"

    processes(work, number=1, per_day=10_000)


def test_an_old_count_is_not_gone_by() -> None:
    now = 100.0

    async def work() -> None:
        nonlocal now
        allowances = Allowances(lambda use: None, clock=lambda: now)  # type: ignore[arg-type, return-value]
        use = Use("account:a", PER_MINUTE, 0, 0)
        allowances.note(use, Count(True, 0, 0.0, True, 0, True, 0, 0.0))
        assert allowances.take(use) is not None
        now += MAX_AGE_SECONDS + 0.01
        assert allowances.take(use) is None

    asyncio.run(work())


@pytest.mark.parametrize(
    ("use", "most"),
    [
        (Use("a", 0, 0, 1), 0),
        (Use("a", 10, 100, 1), 0),
        (Use("a", 120, 10_000, 1), 6),
        (Use("a", 600, 0, 1), 30),
        (Use("a", 1_000_000, 0, 1), MOST_AHEAD),
        (Use("a", 600, 0, 1, part="key:b", part_per_minute=500), 0),
    ],
)
def test_the_allowance_is_a_small_share_of_the_nearest_limit(use: Use, most: int) -> None:
    assert most_ahead(use) == most
