"""Job log: the last lines that all processes have logged about jobs, in one bounded Redis stream.

A ring for all jobs together costs the same whatever they are; one a job would grow with their number. Lines are those
of pipeline/log.py that name a job; they have no keys, texts or bodies."""

import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pydantic_core import from_json, to_json
from structlog.typing import EventDict

from pipeline.accounts.keys import redact

#: The Redis stream.
STREAM = "pressroom:log"
#: Lines that are kept of all jobs together, about; a line takes some 300 bytes.
MOST_LINES = 20_000
#: Lines that wait in a process to be sent; of more, the oldest are dropped.
MOST_PENDING = 1_000
#: Lines of a job that are shown, and that are looked through at once.
MOST_SHOWN = 100
CHUNK = 2_000
#: A line may come so long after its job's end: its process sends once a second.
AFTER_END = timedelta(minutes=2)

_pending: deque[dict[str, Any]] = deque(maxlen=MOST_PENDING)


@dataclass(frozen=True, slots=True)
class JobLine:
    """A line of the log: when, how grave, who said what, and the other fields as text."""

    at: str
    level: str
    logger: str
    event: str
    fields: Mapping[str, str]


def remember(logger: Any, method: str, event: EventDict) -> EventDict:
    """Keep a line that names a job until it is sent; a processor of structlog."""
    if "job_id" in event or "job_ids" in event:
        line = dict(event)
        if info := line.pop("exc_info", None):
            error = info if isinstance(info, BaseException) else sys.exc_info()[1]
            line["exception"] = type(error).__name__
        _pending.append(line)
    return event


def add_pending(pipe: Any) -> int:
    """Add the lines that wait to a Redis pipeline, sync or async; returns how many."""
    added = 0
    while _pending:
        line = _pending.popleft()
        pipe.xadd(STREAM, {"line": redact(to_json(line, fallback=str).decode())}, maxlen=MOST_LINES, approximate=True)
        added += 1
    return added


async def read_job_log(
    client: Any, job_id: UUID, *, created_at: datetime, finished_at: datetime | None
) -> list[JobLine]:
    """Return the last lines about a job, oldest first; only the part of the ring is read that is of its time.

    Raises RedisError."""
    first = f"{created_at.timestamp() * 1000:.0f}"
    last = f"{(finished_at + AFTER_END).timestamp() * 1000:.0f}" if finished_at else "+"
    wanted, found = str(job_id).encode(), []
    for _ in range(-(-MOST_LINES // CHUNK)):
        entries = await client.xrevrange(STREAM, last, first, count=CHUNK)
        found += [fields[b"line"] for _, fields in entries if wanted in fields[b"line"]]
        if len(entries) < CHUNK or len(found) >= MOST_SHOWN:
            break
        last = f"({entries[-1][0].decode()}"
    return [_line(text) for text in reversed(found[:MOST_SHOWN])]


def _line(text: bytes) -> JobLine:
    line = from_json(text)
    at, level, logger, event = (str(line.pop(name, "")) for name in ("timestamp", "level", "logger", "event"))
    fields = {name: str(value) for name, value in line.items() if name not in ("job_id", "job_ids")}
    return JobLine(at, level, logger, event, fields)
