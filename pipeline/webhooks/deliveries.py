"""Deliveries: events on their way to webhooks: added, claimed for a try, and reported.

log.py reads their results and sends them again. Ends of jobs are added by the trigger `job_ended`."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.resources import files
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from pipeline.database import Statement, nothing, rows_of

#: Pauses after the first, second … try; the last one is repeated. Standard Webhooks advises such steps.
PAUSES = tuple(
    timedelta(seconds=seconds) for seconds in (5, 5 * 60, 30 * 60, 2 * 3_600, 5 * 3_600, 5 * 3_600, 5 * 3_600)
)
#: Spreads retries of deliveries that failed together.
JITTER = 0.1
#: States of a delivery, as `models.webhooks` has it for its CHECK.
STATES = ("pending", "delivered", "failed")
#: Characters of an error that are kept, and tries of an event.
MAX_ERROR = 300
MAX_TRIES = 20

_CLAIM = files("pipeline.webhooks").joinpath("claim.sql").read_text("utf-8")


@dataclass(frozen=True, slots=True)
class DueDelivery:
    """An event to be sent now. `age` is for how long it has been tried, `attempts` counts this one.

    `secrets` sign it: the current one, and for a while the one before it."""

    id: UUID
    body: str
    attempts: int
    attempts_before: int
    age: timedelta
    url: str
    secrets: Sequence[str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Most deliveries at a time, of all senders: to one host, and for one account."""

    host: int
    account: int


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of a try: the answer's status, or why there is none. `is_final`: don't try again."""

    status: int | None = None
    error: str | None = None
    retry_after: timedelta | None = None
    is_final: bool = False
    seconds: float | None = None


def add_delivery(webhook_id: UUID, body: str) -> Statement[None]:
    """Have an event sent to a webhook of its own, as soon as this is committed."""
    return Statement(
        "INSERT INTO webhook_delivery (id, webhook_id, account_id, event, body)"
        " SELECT %(id)s, w.id, w.account_id, %(body)s::text::jsonb ->> 'type', %(body)s::text FROM webhook w"
        " WHERE w.id = %(webhook)s RETURNING id",
        {"id": uuid4(), "webhook": webhook_id, "body": body},
        nothing,
        repeatable=False,
    )


def add_to_account(account_id: UUID, event: str, body: str) -> Statement[None]:
    """Have an event sent to each webhook of its account that wants such events."""
    return Statement(
        "INSERT INTO webhook_delivery (id, account_id, webhook_id, url, event, body)"
        " SELECT gen_random_uuid(), a.id, w.id, w.url, %(event)s::text, %(body)s::text FROM account a"
        " JOIN webhook w ON w.account_id = a.id AND (w.of_account OR w.id = a.webhook_id)"
        " WHERE a.id = %(account)s AND w.url IS NOT NULL"
        " AND (w.events IS NULL OR %(event)s::text = ANY (w.events)) RETURNING id",
        {"account": account_id, "event": event, "body": body},
        nothing,
        repeatable=False,
    )


def claim_deliveries(
    limit: int, *, at_once: AtOnce, lease_for: timedelta
) -> tuple[Statement[None], Statement[list[DueDelivery]]]:
    """Return two statements for one transaction, which take the next events that are due.

    An unreported event is due again after the lease. The first statement waits for other senders that are claiming, so
    that the second sees every event on its way."""
    turn: Statement[None] = Statement("SELECT pg_advisory_xact_lock(hashtext('pressroom webhooks'))", {}, nothing)
    claim = Statement(
        _CLAIM,
        {"limit": limit, "host": at_once.host, "account": at_once.account, "lease": lease_for},
        rows_of(DueDelivery),
        repeatable=False,
    )
    return turn, claim


def report_delivery(delivery: DueDelivery, sent: Sent, *, retry_for: timedelta) -> Statement[str | None]:
    """Store the result of a try; return the new state, None for a try that was taken for lost."""
    pause = None if sent.error is None or sent.is_final else pause_after(delivery, sent, retry_for)
    state = "delivered" if sent.error is None else "failed" if pause is None else "pending"
    error = sent.error[:MAX_ERROR] if sent.error else None
    return Statement(
        "UPDATE webhook_delivery SET state = %(state)s, status = %(status)s, error = %(error)s, busy_until = NULL,"
        " next_at = now() + %(pause)s, ended_at = CASE WHEN %(ended)s THEN now() END,"
        # Past MAX_TRIES, the oldest goes.
        " tries = CASE WHEN jsonb_array_length(tries) >= %(most)s THEN tries - 0 ELSE coalesce(tries, '[]') END"
        " || jsonb_build_array(%(try)s || jsonb_build_object('at', now()))"
        " WHERE id = %(id)s AND attempts = %(attempts)s AND state = 'pending' RETURNING state",
        {
            "id": delivery.id,
            "attempts": delivery.attempts,
            "state": state,
            "ended": state != "pending",
            "status": sent.status,
            "error": error,
            "pause": pause or timedelta(),
            "most": MAX_TRIES,
            "try": Jsonb({"status": sent.status, "error": error, "seconds": sent.seconds}),
        },
        lambda rows: rows[0]["state"] if rows else None,
    )


def pause_after(delivery: DueDelivery, sent: Sent, retry_for: timedelta) -> timedelta | None:
    """Return when a failed try is followed by the next; None: never. The last one is made when the time is over."""
    left = retry_for - delivery.age
    if left <= timedelta():
        return None
    tries = delivery.attempts - delivery.attempts_before
    pause = PAUSES[min(tries, len(PAUSES)) - 1] * random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311
    return min(left, max(pause, sent.retry_after or pause))


def forget_deliveries(*, older_than: timedelta, limit: int) -> Statement[int]:
    """Delete events of so long ago; returns how many."""
    return Statement(
        "WITH gone AS (DELETE FROM webhook_delivery WHERE id = ANY (ARRAY(SELECT id FROM webhook_delivery"
        " WHERE created_at < now() - %(older_than)s AND state <> 'pending' ORDER BY created_at LIMIT %(limit)s"
        " FOR UPDATE SKIP LOCKED)) RETURNING 1) SELECT count(*) AS gone FROM gone",
        {"older_than": older_than, "limit": limit},
        lambda rows: int(rows[0]["gone"]),
    )
