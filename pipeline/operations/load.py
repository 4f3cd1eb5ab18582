"""Load: how much work waits, for metrics, scaling and operators."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.database import Row, Statement
from pipeline.registry import Kinds, lanes_of, queues


@dataclass(frozen=True, slots=True)
class QueueLoad:
    """A queue's unfinished items. `oldest_seconds` is the age of the oldest that is ready; 0 when none is."""

    queue: str
    ready: int
    waiting: int
    leased: int
    oldest_seconds: float


@dataclass(frozen=True, slots=True)
class Load:
    """All queues, and the jobs that are not finished."""

    queues: Sequence[QueueLoad]
    open_jobs: int


# A query for each state, because each state has an index of its own.
_LOAD = """
SELECT coalesce(i.lane, i.kind) AS lane, i.state, count(*) AS items,
       coalesce(extract(epoch FROM now() - min(i.created_at)), 0)::float8 AS oldest_seconds
FROM item i WHERE i.state = 'ready' GROUP BY coalesce(i.lane, i.kind), i.state
UNION ALL
SELECT coalesce(i.lane, i.kind), i.state, count(*), 0
FROM item i WHERE i.state = 'waiting' GROUP BY coalesce(i.lane, i.kind), i.state
UNION ALL
SELECT coalesce(i.lane, i.kind), i.state, count(*), 0
FROM item i WHERE i.state = 'leased' GROUP BY coalesce(i.lane, i.kind), i.state
UNION ALL
SELECT NULL, 'open', count(*), 0 FROM job j WHERE j.finished_at IS NULL
"""


def read_load(kinds: Kinds) -> Statement[Load]:
    """Read how much work waits in each queue."""
    return Statement(_LOAD, {}, lambda rows: _load(rows, kinds))


def _load(rows: list[Row], kinds: Kinds) -> Load:
    open_jobs = next(row["items"] for row in rows if row["state"] == "open")
    return Load([_queue_load(queue, rows, kinds) for queue in queues(kinds)], open_jobs)


def _queue_load(queue: str, rows: list[Row], kinds: Kinds) -> QueueLoad:
    lanes = lanes_of(kinds)
    own = [row for row in rows if row["lane"] in lanes and lanes[row["lane"]].queue == queue]

    def items(state: str) -> int:
        return sum(row["items"] for row in own if row["state"] == state)

    oldest = max((row["oldest_seconds"] for row in own), default=0.0)
    return QueueLoad(queue, items("ready"), items("waiting"), items("leased"), oldest)
