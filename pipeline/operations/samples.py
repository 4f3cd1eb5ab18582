"""Samples: how each queue was, one row a queue and minute, and what operators' plots make of them.

The rows have sums, as Redis counts them (`metrics.py`); what happened in between is their difference. After Redis has
lost its sums they begin at zero, and then the sum itself is the difference."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from psycopg.types.json import Jsonb
from redis.exceptions import RedisError

from pipeline.database import SQL, Database, Statement, rows_of
from pipeline.log import get_logger
from pipeline.operations.load import Load, read_load
from pipeline.operations.metrics import HASH as METRICS
from pipeline.operations.metrics import Sum, read_sums
from pipeline.operations.processes import HASH as PROCESSES
from pipeline.operations.processes import gone_fields
from pipeline.registry import Kinds

if TYPE_CHECKING:
    import redis


#: How often a sample is taken.
SAMPLE_EVERY = timedelta(minutes=1)
#: Points of a plot at most: a point is as wide as the time shown needs.
MOST_POINTS = 96
#: Rows that one statement deletes at most.
MOST_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class QueueSums:
    """A queue's sums as workers count them: items by outcome, and the seconds of all runs."""

    queue: str
    done: int = 0
    failed: int = 0
    runs: int = 0
    wait_seconds: float = 0.0
    run_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class QueuePoint:
    """A queue within one piece of time: the most that waited, what ended, and the mean wait and run of an item.

    `wait_seconds` and `run_seconds` are None where nothing ran."""

    queue: str
    at: datetime
    ready: int
    waiting: int
    leased: int
    oldest_seconds: float
    done: int
    failed: int
    wait_seconds: float | None
    run_seconds: float | None


def sums_of(queue: str, sums: Iterable[Sum]) -> QueueSums:
    """Return the sums of a queue."""
    own = [one for one in sums if one.labels.get("queue") == queue]
    items = [one for one in own if one.name == "pressroom_items_total"]

    def seconds(name: str) -> float:
        return sum(one.value for one in own if one.name == name and one.part == "sum")

    return QueueSums(
        queue,
        done=round(sum(one.value for one in items if one.labels.get("outcome") == "done")),
        failed=round(sum(one.value for one in items if one.labels.get("outcome") == "failed")),
        runs=round(sum(one.value for one in items)),
        wait_seconds=seconds("pressroom_item_wait_seconds"),
        run_seconds=seconds("pressroom_item_run_seconds"),
    )


def keep_samples(load: Load, sums: Sequence[Sum] | None) -> Statement[int]:
    """Write a sample of each queue; return how many rows that made. The first sweep of a minute writes.

    No sums means that Redis is away."""
    rows = [asdict(queue) | (asdict(sums_of(queue.queue, sums)) if sums is not None else {}) for queue in load.queues]
    return Statement(
        "INSERT INTO queue_sample (at, queue, ready, waiting, leased, oldest_seconds, done, failed, runs,"
        " wait_seconds, run_seconds) SELECT date_trunc('minute', now()), s.queue, s.ready, s.waiting, s.leased,"
        " s.oldest_seconds, s.done, s.failed, s.runs, s.wait_seconds, s.run_seconds"
        " FROM jsonb_to_recordset(%(rows)s) AS s (queue text, ready integer, waiting integer, leased integer,"
        " oldest_seconds float8, done bigint, failed bigint, runs bigint, wait_seconds float8, run_seconds float8)"
        " ON CONFLICT DO NOTHING RETURNING 1 AS kept",
        {"rows": Jsonb(rows)},
        len,
    )


def forget_samples(older_than: timedelta) -> Statement[int]:
    """Delete old samples, some at a time; returns how many."""
    return Statement(
        "DELETE FROM queue_sample q WHERE (q.at, q.queue) IN (SELECT o.at, o.queue FROM queue_sample o"
        " WHERE o.at < now() - %(older_than)s LIMIT %(limit)s) RETURNING 1 AS gone",
        {"older_than": older_than, "limit": MOST_ROWS},
        len,
    )


_DIFFERENCE = SQL("CASE WHEN s.{0} < lag(s.{0}) OVER q THEN s.{0} ELSE s.{0} - lag(s.{0}) OVER q END AS {0}")
_DIFFERENCES = SQL(", ").join(
    _DIFFERENCE.format(SQL(column)) for column in ("done", "failed", "runs", "wait_seconds", "run_seconds")
)
_HISTORY = SQL("""
WITH step AS (
    SELECT s.queue, s.at, s.ready, s.waiting, s.leased, s.oldest_seconds, {differences}
    FROM queue_sample s WHERE s.at >= now() - %(period)s
    WINDOW q AS (PARTITION BY s.queue ORDER BY s.at)
)
SELECT s.queue, date_bin(%(width)s, s.at, timestamptz 'epoch') AS at, max(s.ready) AS ready,
       max(s.waiting) AS waiting, max(s.leased) AS leased, max(s.oldest_seconds) AS oldest_seconds,
       coalesce(sum(s.done), 0)::bigint AS done, coalesce(sum(s.failed), 0)::bigint AS failed,
       sum(s.wait_seconds) / nullif(sum(s.runs), 0)::float8 AS wait_seconds,
       sum(s.run_seconds) / nullif(sum(s.runs), 0)::float8 AS run_seconds
FROM step s GROUP BY s.queue, 2 ORDER BY s.queue, 2
""").format(differences=_DIFFERENCES)


def point_width(period: timedelta) -> timedelta:
    """Return how much time one point stands for, in full minutes."""
    minutes = -(-period // (SAMPLE_EVERY * MOST_POINTS))
    return SAMPLE_EVERY * max(1, minutes)


def read_history(period: timedelta) -> Statement[list[QueuePoint]]:
    """Read how the queues were over a period that ends now, in points of equal width, oldest first."""

    return Statement(_HISTORY, {"period": period, "width": point_width(period)}, rows_of(QueuePoint))


log = get_logger(__name__)


def take_samples(database: Database, client: "redis.Redis", kinds: Kinds) -> int:
    """Write how each queue is, and forget the processes that are gone; returns how many rows that made."""
    return database.run(keep_samples(database.run(read_load(kinds)), _read_redis(client)))


def _read_redis(client: "redis.Redis") -> list[Sum] | None:
    """Return the counts; None: Redis is away, and the sample goes without."""
    try:
        if gone := gone_fields(client.hgetall(PROCESSES)):
            client.hdel(PROCESSES, *gone)
        return list(read_sums(client.hgetall(METRICS)))
    except RedisError as error:
        log.warning("sample without counts", error=str(error))
        return None
