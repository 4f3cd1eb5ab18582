"""Metrics: counted in each process and added up in Redis, which has one sum for all processes and machines.

Counting changes a dictionary and never waits. The counts go to Redis about every second; while Redis is away they are
kept."""

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import redis
import redis.asyncio

from pipeline.wakes.redis_away import REDIS_AWAY

#: The Redis hash with all sums.
HASH = "pressroom:metrics"
#: Tokens of delivered items, by engine and use: prompt or completion.
TOKENS = "pressroom_tokens_total"
#: Upper bounds of a histogram, in seconds: from an idle round trip to a long job.
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1_800.0)

#: A series: its name, which part of it ("" for a counter, else sum, count or a bucket's bound), and its labels.
Series = tuple[str, str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True)
class Sum:
    """One number as Redis has it."""

    name: str
    part: str
    labels: dict[str, str]
    value: float


class Metrics:
    """The counters of a process."""

    def __init__(self) -> None:
        self._pending: Counter[Series] = Counter()
        self._lock = threading.Lock()

    @property
    def has_pending(self) -> bool:
        """True if anything was counted since the last flush."""
        return bool(self._pending)

    def count(self, name: str, amount: float = 1, **labels: object) -> None:
        self._add([(name, "", amount)], labels)

    def observe(self, name: str, seconds: float, **labels: object) -> None:
        bucket = next((str(bound) for bound in BUCKETS if seconds <= bound), "+Inf")
        self._add([(name, bucket, 1), (name, "sum", seconds)], labels)

    def flush(self, client: "redis.Redis") -> None:
        """Add the counts to those in Redis; after a RedisError they are kept for the next time."""
        with self._handed_over(client) as pipe:
            pipe.execute()

    async def flush_async(self, client: "redis.asyncio.Redis") -> None:
        """Add the counts to those in Redis; after a RedisError they are kept for the next time."""
        with self._handed_over(client) as pipe:
            await pipe.execute()

    def _add(self, amounts: list[tuple[str, str, float]], labels: dict[str, object]) -> None:
        fixed = tuple((name, str(value)) for name, value in labels.items())
        with self._lock:
            for name, part, amount in amounts:
                self._pending[name, part, fixed] += amount  # type: ignore[assignment]  # Counter holds floats as well

    @contextmanager
    def _handed_over(self, client: Any) -> Iterator[Any]:
        """Yield the pipeline that adds what is pending; an empty one sends nothing."""
        with self._lock:
            taken, self._pending = self._pending, Counter()
        pipe = client.pipeline(transaction=True)
        for (name, part, labels), amount in taken.items():
            pipe.hincrbyfloat(HASH, json.dumps([name, part, dict(sorted(labels))]), amount)
        try:
            yield pipe
        except REDIS_AWAY:
            with self._lock:
                self._pending.update(taken)
            raise


def read_sums(fields: Mapping[Any, Any]) -> Iterator[Sum]:
    for field, value in fields.items():
        name, part, labels = json.loads(field)
        yield Sum(name, part, labels, float(value))
