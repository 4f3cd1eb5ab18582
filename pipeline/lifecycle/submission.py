"""Submission: a request becomes a job with its hold and its items, or is refused; and a job is cancelled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, get_args
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import Statement
from pipeline.identifiers import uuid7
from pipeline.lifecycle.schema import call
from pipeline.webhooks.events import make_secret

#: Priorities of requests and keys; the last goes first.
Priority = Literal["low", "normal", "high"]
PRIORITIES: tuple[Priority, ...] = get_args(Priority)


@dataclass(frozen=True, slots=True)
class Submission:
    """A request about to become a job. `items` are (input, price in credits, lane); None is the kind's own lane."""

    account_id: UUID
    api_key_id: UUID
    kind: str
    route: str
    request: Mapping[str, Any]
    request_id: str
    request_hash: bytes
    items: Sequence[tuple[Mapping[str, Any], int, str | None]]
    deadline: timedelta
    keep_for: timedelta
    slice_size: int
    source: str | None = None
    idempotency_key: str | None = None
    idempotency_window: timedelta = timedelta(hours=24)
    max_open_items: int = 100_000
    #: True if an unfinished job of the same route and request hash is this one.
    joins_open: bool = False
    #: Address to tell of its end; None: the account's webhooks. `webhook_events` limits the events; None: no limit.
    webhook_url: str | None = None
    webhook_events: Sequence[str] | None = None
    #: Orders the account's own items: another's turn never moves back.
    priority: Priority = "normal"
    job_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Submitted:
    """The outcome of a submission. Only `accepted` made a job; `replayed` names the first request's job.

    `created_at` is None when the job was there already: its row says. `available` is the account's balance; of
    `key_limit`, what the key has left of its own credits of the month."""

    outcome: Literal[
        "accepted", "replayed", "conflict", "insufficient", "key_limit", "too_many", "unauthorized", "suspended"
    ]
    job_id: UUID | None
    available: int | None
    required: int
    open_items: int | None
    created_at: datetime | None


def submit(submission: Submission) -> Statement[Submitted]:
    """Make a job, its hold and its items, or refuse and change nothing."""
    if not submission.items:
        raise ValueError("A job needs at least one item.")
    return call(
        "submit",
        {
            "job": submission.job_id,
            "account": submission.account_id,
            "key": submission.api_key_id,
            "kind": submission.kind,
            "route": submission.route,
            "source": submission.source,
            "request": Jsonb(submission.request),
            "request_id": submission.request_id,
            "idempotency_key": submission.idempotency_key,
            "request_hash": submission.request_hash,
            "idempotency_window": submission.idempotency_window,
            "deadline": submission.deadline,
            "keep_for": submission.keep_for,
            "slice": submission.slice_size,
            "max_open": submission.max_open_items,
            "items": Jsonb(submission.items),
            "join": submission.joins_open,
            "webhook_url": submission.webhook_url,
            "webhook_events": None if submission.webhook_events is None else list(submission.webhook_events),
            "webhook_secret": None if submission.webhook_url is None else make_secret(),
            "priority": submission.priority,
        },
        lambda rows: Submitted(**rows[0]),
    )


#: Why the items of a cancelled job ended, as their users see it.
CANCELLED = {
    "status": 409,
    "error": "Conflict",
    "code": "job_cancelled",
    "message": "The job was cancelled. Undelivered items were not charged.",
}


def cancel(job_id: UUID, account_id: UUID | None) -> Statement[str | None]:
    """End a job at once; returns the state it was in, None for no such job. No account means the operator."""
    return call(
        "cancel", {"job": job_id, "account": account_id, "error": Jsonb(CANCELLED)}, lambda rows: rows[0]["cancel"]
    )
