"""The life cycle of jobs and items, and the ledger: the only writer of job, item, account and credit entry.

Each transition is one atomic SQL function in lifecycle.sql, written once and given here as a statement that the
async API and the sync workers run alike. docs/architecture.md draws the state machine.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any, Literal
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from pipeline.database import Statement

#: An item whose worker dies so often is given up: whoever runs it dies of it.
MAX_CRASHES = 3
#: Rows that one statement of the sweep may touch.
SWEEP_ROWS = 1_000

_SOURCE = files("pipeline").joinpath("lifecycle.sql").read_text("utf-8")
#: The schema of this version of the functions; another text is another schema, so versions run side by side.
SCHEMA = "lifecycle_" + hashlib.sha256(_SOURCE.encode()).hexdigest()[:12]


def install_sql() -> str:
    """Return the statements that create this version's functions."""
    return f"CREATE SCHEMA {SCHEMA};\n" + _SOURCE.replace("lifecycle.", f"{SCHEMA}.")


def _call(function: str, *parameters: str) -> str:
    placeholders = ", ".join(f"%({name})s" for name in parameters)
    return f"SELECT * FROM {SCHEMA}.{function}({placeholders})"  # noqa: S608  names from this file alone


# Submission


@dataclass(frozen=True, slots=True)
class Submission:
    """A request about to become a job. `items` are (input, price in credits)."""

    account_id: UUID
    api_key_id: UUID
    kind: str
    route: str
    request: Mapping[str, Any]
    request_id: str
    request_hash: bytes
    items: Sequence[tuple[Mapping[str, Any], int]]
    deadline: timedelta
    keep_for: timedelta
    slice_size: int
    source: str | None = None
    idempotency_key: str | None = None
    idempotency_window: timedelta = timedelta(hours=24)
    max_open_items: int = 100_000
    job_id: UUID = field(default_factory=uuid4)


@dataclass(frozen=True, slots=True)
class Submitted:
    """What became of a submission. Only `accepted` made a job; `replayed` names the job of the first request.

    `created_at` is None when the job was there already: its row says.
    """

    outcome: Literal["accepted", "replayed", "conflict", "insufficient", "too_many", "unauthorized"]
    job_id: UUID | None
    available: int | None
    required: int
    open_items: int | None
    created_at: datetime | None


_SUBMIT = _call(
    "submit", "job", "account", "key", "kind", "route", "source", "request", "request_id", "idempotency_key",
    "request_hash", "idempotency_window", "deadline", "keep_for", "slice", "max_open", "items",
)  # fmt: skip


def submit(submission: Submission) -> Statement[Submitted]:
    """Make a job, its hold and its items, or refuse and change nothing."""
    if not submission.items:
        raise ValueError("A job needs at least one item.")
    return Statement(
        _SUBMIT,
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
        },
        lambda rows: Submitted(**rows[0]),
    )


# Work


@dataclass(frozen=True, slots=True)
class ClaimedItem:
    """An item out on a lease. `waited` counts from the submission."""

    lease_id: UUID
    item_id: int
    job_id: UUID
    account_id: UUID
    kind: str
    index: int
    input: dict[str, Any]
    price: int
    captured: int
    attempts: int
    crashes: int
    checkpoint: dict[str, Any] | None
    request_id: str
    waited: timedelta


_CLAIM = _call("claim", "kinds", "limits", "lease", "lease_for", "alone", "oldest")


def claim(
    limits: Mapping[str, int], *, lease_for: timedelta, alone: bool = True, oldest: bool = False
) -> Statement[list[ClaimedItem]]:
    """Lease the next items of one kind; `limits` names the kinds that the caller can serve, and how many of each.

    `alone`: the caller holds nothing else, so an item that has crashed a worker may come, by itself.
    `oldest`: the lowest id first, whatever its round.
    """
    lease_id = uuid4()
    return Statement(
        _CLAIM,
        {
            "kinds": list(limits),
            "limits": list(limits.values()),
            "lease": lease_id,
            "lease_for": lease_for,
            "alone": alone,
            "oldest": oldest,
        },
        lambda rows: [ClaimedItem(lease_id=lease_id, **row) for row in rows],
    )


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign of life for an item: what is done of all, credits earned so far, and where a next attempt goes on."""

    lease_id: UUID
    item_id: int
    progress: Mapping[str, Any] | None = None
    credits: int | None = None
    checkpoint: Mapping[str, Any] | None = None


_HEARTBEAT = _call("heartbeat", "beats", "lease_for")


def heartbeat(beats: Sequence[Beat], *, lease_for: timedelta) -> Statement[set[int]]:
    """Renew leases; returns the items still held. A missing one was cancelled, expired or lost."""
    rows = [
        {
            "lease": str(beat.lease_id),
            "item": beat.item_id,
            "progress": beat.progress,
            "credits": beat.credits,
            "checkpoint": beat.checkpoint,
        }
        for beat in beats
    ]
    return Statement(
        _HEARTBEAT,
        {"beats": Jsonb(rows), "lease_for": lease_for},
        lambda found: {row["heartbeat"] for row in found},
    )


@dataclass(frozen=True, slots=True)
class Raised:
    """What became of raise_hold: `raised`, `insufficient` (nothing changed) or `lost` (no longer the caller's)."""

    outcome: Literal["raised", "insufficient", "lost"]
    available: int | None


_RAISE_HOLD = _call("raise_hold", "lease", "item", "credits")


def raise_hold(lease_id: UUID, item_id: int, credits: int) -> Statement[Raised]:
    """Set aside `credits` in all for an item, once its real price is known."""
    return Statement(
        _RAISE_HOLD, {"lease": lease_id, "item": item_id, "credits": credits}, lambda rows: Raised(**rows[0])
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an item. `credits` are those earned, at most its price."""

    item_id: int
    outcome: Literal["done", "failed", "retry", "release"]
    credits: int = 0
    output: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    after: timedelta = timedelta()
    engine: str | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """An item whose report counted; `job_state` is set when the report ended its job."""

    item_id: int
    job_id: UUID
    job_state: str | None


_REPORT = _call("report", "lease", "outcomes")


def report(lease_id: UUID, outcomes: Sequence[Outcome]) -> Statement[list[Taken]]:
    """Hand in what became of items; those no longer on the lease change nothing and are missing from the answer."""
    rows = [
        {
            "item": outcome.item_id,
            "outcome": outcome.outcome,
            "credits": outcome.credits,
            "output": outcome.output,
            "error": outcome.error,
            "after": outcome.after.total_seconds(),
            "engine": outcome.engine,
        }
        for outcome in outcomes
    ]
    return Statement(
        _REPORT, {"lease": lease_id, "outcomes": Jsonb(rows)}, lambda found: [Taken(**row) for row in found]
    )


#: Why the items of a cancelled job ended, as their users see it.
CANCELLED = {
    "status": 409,
    "error": "Conflict",
    "code": "job_cancelled",
    "message": "The job was cancelled. What was not delivered was not charged.",
}
EXPIRED = {
    "status": 503,
    "retry_after_seconds": 1,
    "error": "Service Unavailable",
    "code": "job_expired",
    "message": "The job was not finished by its deadline. What was not delivered was not charged; send it again.",
}
CRASHED = {
    "status": 500,
    "error": "Internal Server Error",
    "code": "worker_crashed",
    "message": f"The work ended its process {MAX_CRASHES} times and was given up. Only what was delivered is charged.",
}


_CANCEL = _call("cancel", "job", "account", "error")


def cancel(job_id: UUID, account_id: UUID | None) -> Statement[str | None]:
    """End a job at once; returns the state it was in, None for no such job. No account means the operator."""
    return Statement(
        _CANCEL,
        {"job": job_id, "account": account_id, "error": Jsonb(CANCELLED)},
        lambda rows: rows[0]["cancel"],
    )


# The sweep


def wake_waiting() -> Statement[dict[str, int]]:
    """Make items whose time has come ready; returns how many of each kind."""
    return Statement(
        _call("wake_waiting", "limit"), {"limit": SWEEP_ROWS}, lambda rows: {row["kind"]: row["items"] for row in rows}
    )


@dataclass(frozen=True, slots=True)
class Reaped:
    """A job with items whose worker died; `job_state` is set when that ended it."""

    job_id: UUID
    crashed: int
    job_state: str | None


def reap() -> Statement[Reaped | None]:
    """Take the items of one job back from workers that are not heard of any more."""
    return Statement(
        _call("reap", "max_crashes", "error"),
        {"max_crashes": MAX_CRASHES, "error": Jsonb(CRASHED)},
        lambda rows: Reaped(**rows[0]) if rows else None,
    )


def expire() -> Statement[UUID | None]:
    """End one job that is past its deadline."""
    return Statement(_call("expire", "error"), {"error": Jsonb(EXPIRED)}, lambda rows: rows[0]["expire"])


def purge() -> Statement[int | None]:
    """Delete items and request of one job whose result has expired; None when there is none."""
    return Statement(_call("purge", "limit"), {"limit": SWEEP_ROWS}, lambda rows: rows[0]["purge"])


def forget(older_than: timedelta) -> Statement[int]:
    """Delete the summaries of jobs that ended so long ago."""
    return Statement(
        _call("forget", "older_than", "limit"),
        {"older_than": older_than, "limit": SWEEP_ROWS},
        lambda rows: rows[0]["forget"],
    )


# Accounts


def open_account(
    account_id: UUID,
    name: str,
    tier: str,
    credits: int,
    *,
    key_id: UUID,
    key_name: str,
    key_hash: bytes,
    hint: str,
) -> Statement[None]:
    """Make an account with its first key and its opening balance."""
    return Statement(
        _call("open_account", "account", "name", "tier", "credits", "key", "key_name", "hash", "hint"),
        {
            "account": account_id,
            "name": name,
            "tier": tier,
            "credits": credits,
            "key": key_id,
            "key_name": key_name,
            "hash": key_hash,
            "hint": hint,
        },
        lambda rows: None,
        repeatable=False,
    )


def grant_credits(account_id: UUID, credits: int, note: str | None = None) -> Statement[int | None]:
    """Give credits to an account (negative: take unspent ones back); returns the balance, None for no such account."""
    return Statement(
        _call("grant_credits", "account", "credits", "note"),
        {"account": account_id, "credits": credits, "note": note},
        lambda rows: rows[0]["grant_credits"],
        repeatable=False,
    )
