"""Counts: how many requests were made in the last minute and today, in Redis or, while it is away, in this process.

Both use the `limits` library: its moving window for minutes, its counter for UTC days. In Redis its scripts run inside
one of ours, so that a request costs one round trip, and a refused one is counted nowhere."""

import time
from dataclasses import dataclass
from typing import Any

import redis.asyncio
from limits.aio.storage import MemoryStorage
from limits.aio.storage.redis.bridge import RedisBridge
from redis.exceptions import NoScriptError

from pipeline.database.coalescing import Coalescer

MINUTE_SECONDS = 60
DAY_SECONDS = 86_400
#: Entries that a window may have past its limit, of requests that were admitted before they were counted.
MOST_PAST = 1_000


@dataclass(frozen=True, slots=True)
class Use:
    """Requests to count under a name, and its limits. A limit of 0 means no limit; 0 requests only read the counts.

    `part` is one of those who share the name, with a limit a minute of its own: an API key of an account."""

    name: str
    per_minute: int
    per_day: int
    requests: int
    part: str = ""
    part_per_minute: int = 0
    #: It was admitted before, and is counted whatever the limits say.
    is_admitted: bool = False

    @property
    def minute_key(self) -> str:
        return f"pressroom:rate:minute:{self.name}"

    @property
    def day_key(self) -> str:
        return f"pressroom:rate:day:{time.time() // DAY_SECONDS:.0f}:{self.name}"

    @property
    def part_key(self) -> str:
        return f"pressroom:rate:minute:{self.part}"

    @property
    def cost(self) -> int:
        """Entries in the minute's window: more than its limit makes no difference."""
        return min(self.requests, self.per_minute)

    @property
    def part_cost(self) -> int:
        return min(self.requests, self.part_per_minute)


@dataclass(frozen=True, slots=True)
class Count:
    """The windows' entries after this use, the time of the oldest of them, and today's count."""

    minute_admitted: bool
    minute_used: int
    minute_since: float
    day_admitted: bool
    day_used: int
    part_admitted: bool
    part_used: int
    part_since: float


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
local part_limit, part_cost = tonumber(ARGV[6]), tonumber(ARGV[7])
local is_admitted = ARGV[8] == '1'
local past = is_admitted and {MOST_PAST} or 0
local minute_admitted, day_used, found = 1, 0, nil
local part_admitted, part = 1, nil
if part_limit > 0 then
    part = window({{KEYS[3]}}, {{now - {MINUTE_SECONDS}, part_limit}})
    part_admitted = (part and part[2] >= part_limit) and 0 or 1
end
if per_day > 0 then
    day_used = tonumber(redis.call('get', KEYS[2]) or 0)
end
local day_admitted = (is_admitted or per_day == 0 or day_used < per_day) and 1 or 0
if per_minute > 0 then
    if cost > 0 and day_admitted == 1 and part_admitted == 1 then
        minute_admitted = acquire({{KEYS[1]}}, {{now, per_minute + cost - 1 + past, {MINUTE_SECONDS}, cost}}) and 1 or 0
    end
    found = window({{KEYS[1]}}, {{now - {MINUTE_SECONDS}, per_minute}})
end
if requests > 0 and day_admitted == 1 and minute_admitted == 1 and part_admitted == 1 then
    if per_day > 0 then
        day_used = increase({{KEYS[2]}}, {{{DAY_SECONDS}, requests}})
    end
    if part_limit > 0 then
        acquire({{KEYS[3]}}, {{now, part_limit + part_cost - 1, {MINUTE_SECONDS}, part_cost}})
        part = window({{KEYS[3]}}, {{now - {MINUTE_SECONDS}, part_limit}})
    end
end
return {{
    minute_admitted, found and found[2] or 0, found and found[1] or now, day_admitted, day_used,
    part_admitted, part and part[2] or 0, part and part[1] or now
}}
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
        keys = (use.minute_key, use.day_key, use.part_key)
        numbers = (use.per_minute, use.cost, use.per_day, use.requests, use.part_per_minute, use.part_cost)
        arguments = (len(keys), *keys, time.time(), *numbers, int(use.is_admitted))
        try:
            found = await self._commands.ask(("EVALSHA", self._sha, *arguments))
        except NoScriptError:
            await self._commands.ask(("SCRIPT LOAD", _SCRIPT))
            found = await self._commands.ask(("EVALSHA", self._sha, *arguments))
        minute_admitted, minute_used, since, day_admitted, day_used, part_admitted, part_used, part_since = found
        return Count(
            bool(minute_admitted),
            minute_used,
            float(since),
            bool(day_admitted),
            day_used,
            bool(part_admitted),
            part_used,
            float(part_since),
        )

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
        storage = self._storage
        part_admitted = (await self._window(use.part_key, use.part_per_minute))[0] < (use.part_per_minute or 1)
        day_used = await storage.get(use.day_key) if use.per_day else 0
        day_admitted = not use.per_day or day_used < use.per_day
        minute_admitted = True
        if use.cost and day_admitted and part_admitted:
            minute_admitted = await self._acquire(use.minute_key, use.per_minute, use.cost)
        if use.requests and day_admitted and minute_admitted and part_admitted:
            if use.per_day:
                day_used = await storage.incr(use.day_key, DAY_SECONDS, use.requests)
            if use.part_per_minute:
                await self._acquire(use.part_key, use.part_per_minute, use.part_cost)
        minute = await self._window(use.minute_key, use.per_minute)
        part = await self._window(use.part_key, use.part_per_minute)
        return Count(minute_admitted, *minute, day_admitted, day_used, part_admitted, *part)

    async def _acquire(self, key: str, limit: int, cost: int) -> bool:
        return await self._storage.acquire_entry(key, limit + cost - 1, MINUTE_SECONDS, cost)

    async def _window(self, key: str, limit: int) -> tuple[int, float]:
        """Return how many entries a window has, and when the oldest of them was made."""
        if not limit:
            return 0, time.time()
        since, used = await self._storage.get_moving_window(key, limit, MINUTE_SECONDS)
        return used, since

    async def give_back(self, use: Use) -> None:
        """Take requests of today back."""
        if await self._storage.get(use.day_key):
            await self._storage.decr(use.day_key, use.requests)
