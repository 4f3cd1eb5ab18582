"""Counts: how many requests were made in the last minute and today, in Redis or, while it is away, in this process.

Both use the `limits` library: its moving window for minutes, its counter for UTC days. In Redis its scripts run
inside one of ours, so that a request costs one round trip, and a refused one is counted nowhere.
"""

import time
from dataclasses import dataclass
from typing import Any

import redis.asyncio
from limits.aio.storage import MemoryStorage
from limits.aio.storage.redis.bridge import RedisBridge
from redis.exceptions import NoScriptError

from pipeline.coalescing import Coalescer

MINUTE_SECONDS = 60
DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Use:
    """Requests to count under a name, and its limits. A limit of 0 means no limit; 0 requests only read the counts."""

    name: str
    per_minute: int
    per_day: int
    requests: int

    @property
    def minute_key(self) -> str:
        """Redis key of the minute's window."""
        return f"pressroom:rate:minute:{self.name}"

    @property
    def day_key(self) -> str:
        """Redis key of today's counter."""
        return f"pressroom:rate:day:{time.time() // DAY_SECONDS:.0f}:{self.name}"

    @property
    def cost(self) -> int:
        """Entries in the minute's window: more than its limit makes no difference."""
        return min(self.requests, self.per_minute)


@dataclass(frozen=True, slots=True)
class Count:
    """What was found: the window's entries after this use, when the oldest of them was made, and today's count."""

    minute_admitted: bool
    minute_used: int
    minute_since: float
    day_admitted: bool
    day_used: int


def _text(script: str | bytes) -> str:
    return script.decode() if isinstance(script, bytes) else script


# The library admits a use only if all of its cost fits. With the limit raised by cost - 1 one request left is enough.
_SCRIPT = f"""
local function acquire(KEYS, ARGV)
{_text(RedisBridge.SCRIPT_ACQUIRE_MOVING_WINDOW)}
end
local function window(KEYS, ARGV)
{_text(RedisBridge.SCRIPT_MOVING_WINDOW)}
end
local function increase(KEYS, ARGV)
{_text(RedisBridge.SCRIPT_INCR_EXPIRE)}
end
local now, per_minute, cost = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local per_day, requests = tonumber(ARGV[4]), tonumber(ARGV[5])
local minute_admitted, day_used, found = 1, 0, nil
if per_day > 0 then
    day_used = tonumber(redis.call('get', KEYS[2]) or 0)
end
local day_admitted = (per_day == 0 or day_used < per_day) and 1 or 0
if per_minute > 0 then
    if cost > 0 and day_admitted == 1 then
        minute_admitted = acquire({{KEYS[1]}}, {{now, per_minute + cost - 1, {MINUTE_SECONDS}, cost}}) and 1 or 0
    end
    found = window({{KEYS[1]}}, {{now - {MINUTE_SECONDS}, per_minute}})
end
if per_day > 0 and requests > 0 and day_admitted == 1 and minute_admitted == 1 then
    day_used = increase({{KEYS[2]}}, {{{DAY_SECONDS}, requests}})
end
return {{minute_admitted, found and found[2] or 0, found and found[1] or now, day_admitted, day_used}}
"""


# A request may be made before midnight and given back after it: today's counter is then missing, or counts others.
_GIVE_BACK = """
local used = tonumber(redis.call('get', KEYS[1]) or 0)
if used > 0 then
    redis.call('decrby', KEYS[1], math.min(used, ARGV[1]))
end
"""


class SharedCounts:
    """Counts in Redis, for all processes together."""

    def __init__(self, client: "redis.asyncio.Redis") -> None:
        self._client = client
        # Uses that are counted at the same time share one pipeline, and so the cost of a round trip.
        self._commands: Coalescer[tuple[Any, ...], Any] = Coalescer(self._execute)
        self._sha = client.register_script(_SCRIPT).sha
        self._give_back = client.register_script(_GIVE_BACK)

    async def use(self, use: Use) -> Count:
        """Count a use. Raises RedisError."""
        arguments = (2, use.minute_key, use.day_key, time.time(), use.per_minute, use.cost, use.per_day, use.requests)
        try:
            found = await self._commands.ask(("EVALSHA", self._sha, *arguments))
        except NoScriptError:
            await self._commands.ask(("SCRIPT LOAD", _SCRIPT))
            found = await self._commands.ask(("EVALSHA", self._sha, *arguments))
        minute_admitted, minute_used, since, day_admitted, day_used = found
        return Count(bool(minute_admitted), minute_used, float(since), bool(day_admitted), day_used)

    async def _execute(self, commands: list[tuple[Any, ...]]) -> list[Any]:
        pipe = self._client.pipeline(transaction=False)
        for command in commands:
            pipe.execute_command(*command)
        return await pipe.execute(raise_on_error=False)

    async def give_back(self, use: Use) -> None:
        """Take requests of today back. Raises RedisError."""
        await self._give_back(keys=[use.day_key], args=[use.requests])


class LocalCounts:
    """Counts in this process alone."""

    def __init__(self) -> None:
        self._storage = MemoryStorage()

    async def use(self, use: Use) -> Count:
        """Count a use."""
        storage = self._storage
        day_used = await storage.get(use.day_key) if use.per_day else 0
        day_admitted = not use.per_day or day_used < use.per_day
        minute_admitted, minute_used, since = True, 0, time.time()
        if use.per_minute:
            if use.cost and day_admitted:
                widened = use.per_minute + use.cost - 1
                minute_admitted = await storage.acquire_entry(use.minute_key, widened, MINUTE_SECONDS, use.cost)
            since, minute_used = await storage.get_moving_window(use.minute_key, use.per_minute, MINUTE_SECONDS)
        if use.per_day and use.requests and day_admitted and minute_admitted:
            day_used = await storage.incr(use.day_key, DAY_SECONDS, use.requests)
        return Count(minute_admitted, minute_used, since, day_admitted, day_used)

    async def give_back(self, use: Use) -> None:
        """Take requests of today back."""
        if await self._storage.get(use.day_key):
            await self._storage.decr(use.day_key, use.requests)
