"""Deliveries: events on their way to webhooks. The one place that writes their table."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from pydantic_core import to_json

from pipeline.database import Statement
from pipeline.timestamps import timestamp

#: Pauses after the first, second … try; the last one is repeated. Standard Webhooks advises such steps.
PAUSES = tuple(
    timedelta(seconds=seconds) for seconds in (5, 5 * 60, 30 * 60, 2 * 3_600, 5 * 3_600, 5 * 3_600, 5 * 3_600)
)
#: So that what failed together is not sent together again.
JITTER = 0.1
#: Characters of an error that are kept.
MAX_ERROR = 300


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event to be sent now. `age` is how long ago it happened, `attempts` counts this one."""

    id: UUID
    body: str
    attempts: int
    age: timedelta
    url: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of a try: the status of an answer, or why there is none. `is_final`: another try is useless."""

    status: int | None = None
    error: str | None = None
    retry_after: timedelta | None = None
    is_final: bool = False


def event_body(event: str, data: Mapping[str, Any], now: datetime) -> str:
    """Return an event as it is sent: its type, when it happened, and what."""
    return to_json({"type": event, "timestamp": timestamp(now), "data": data}).decode()


def add_delivery(webhook_id: UUID, body: str) -> Statement[None]:
    """Have an event sent, as soon as this is committed."""
    return Statement(
        "INSERT INTO webhook_delivery (id, webhook_id, body) VALUES (%(id)s, %(webhook)s, %(body)s) RETURNING id",
        {"id": uuid4(), "webhook": webhook_id, "body": body},
        lambda rows: None,
        repeatable=False,
    )


def claim_deliveries(limit: int, *, lease_for: timedelta) -> Statement[list[Delivery]]:
    """Take the next events that are due; one that is not reported is due again after the lease."""
    return Statement(
        "UPDATE webhook_delivery d SET attempts = d.attempts + 1, next_at = now() + %(lease)s FROM webhook w"
        " WHERE w.id = d.webhook_id AND d.id = ANY (ARRAY(SELECT o.id FROM webhook_delivery o"
        " WHERE o.state = 'pending' AND o.next_at <= now() ORDER BY o.next_at LIMIT %(limit)s"
        " FOR NO KEY UPDATE SKIP LOCKED))"
        " RETURNING d.id, d.body, d.attempts, now() - d.created_at AS age, w.url, w.secret",
        {"limit": limit, "lease": lease_for},
        lambda rows: [Delivery(**row) for row in rows],
        repeatable=False,
    )


def report_delivery(delivery: Delivery, sent: Sent, *, retry_for: timedelta) -> Statement[str | None]:
    """Keep what became of a try; returns the new state, None for a try that was taken for lost."""
    pause = None if sent.error is None or sent.is_final else pause_after(delivery, sent, retry_for)
    state = "delivered" if sent.error is None else "failed" if pause is None else "pending"
    return Statement(
        "UPDATE webhook_delivery SET state = %(state)s, status = %(status)s, error = %(error)s,"
        " next_at = now() + %(pause)s, ended_at = CASE WHEN %(ended)s THEN now() END"
        " WHERE id = %(id)s AND attempts = %(attempts)s AND state = 'pending' RETURNING state",
        {
            "id": delivery.id,
            "attempts": delivery.attempts,
            "state": state,
            "ended": state != "pending",
            "status": sent.status,
            "error": sent.error[:MAX_ERROR] if sent.error else None,
            "pause": pause or timedelta(),
        },
        lambda rows: rows[0]["state"] if rows else None,
    )


def pause_after(delivery: Delivery, sent: Sent, retry_for: timedelta) -> timedelta | None:
    """Return when a failed try is followed by the next; None: never. The last one is made when the time is over."""
    left = retry_for - delivery.age
    if left <= timedelta():
        return None
    pause = PAUSES[min(delivery.attempts, len(PAUSES)) - 1] * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311
    return min(left, max(pause, sent.retry_after or pause))


@dataclass(frozen=True, slots=True)
class LastDelivery:
    """How the last event of a webhook fared."""

    state: str
    attempts: int
    status: int | None
    error: str | None
    created_at: datetime
    next_at: datetime | None


def forget_deliveries(*, older_than: timedelta, limit: int) -> Statement[int]:
    """Delete events of so long ago; returns how many."""
    return Statement(
        "WITH gone AS (DELETE FROM webhook_delivery WHERE id = ANY (ARRAY(SELECT id FROM webhook_delivery"
        " WHERE created_at < now() - %(older_than)s AND state <> 'pending' ORDER BY created_at LIMIT %(limit)s"
        " FOR UPDATE SKIP LOCKED)) RETURNING 1) SELECT count(*) AS gone FROM gone",
        {"older_than": older_than, "limit": limit},
        lambda rows: int(rows[0]["gone"]),
    )
