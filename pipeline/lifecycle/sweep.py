"""The sweep: ends and deletes what is overdue, and makes waiting items ready; one job a transaction."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import Statement
from pipeline.errors import AccountSuspended
from pipeline.lifecycle.schema import call

#: An item that has crashed so many workers is given up: it would crash the next one too.
MAX_CRASHES = 3
#: Rows that one statement of the sweep may touch.
SWEEP_ROWS = 1_000

#: Why the items of an expired job ended, and those that were given up, as their users see it.
EXPIRED = {
    "status": 503,
    "retry_after_seconds": 1,
    "error": "Service Unavailable",
    "code": "job_expired",
    "message": "The job was not finished by its deadline. Undelivered items were not charged; send it again.",
}
CRASHED = {
    "status": 500,
    "error": "Internal Server Error",
    "code": "worker_crashed",
    "message": f"The work ended its process {MAX_CRASHES} times and was given up. Only delivered items are charged.",
}

SUSPENDED = {
    "status": int(AccountSuspended.status),
    **AccountSuspended("The account was suspended meanwhile. Undelivered items were not charged.").document(),
}


def wake_waiting() -> Statement[dict[str, int]]:
    """Make items whose time has come ready; returns how many of each lane."""
    return call("wake_waiting", {"limit": SWEEP_ROWS}, lambda rows: {row["lane"]: row["items"] for row in rows})


def uncount() -> Statement[int]:
    """Take jobs that have ended off what their accounts have open; returns how many."""
    return call("uncount", {"accounts": SWEEP_ROWS}, lambda rows: int(rows[0]["uncount"]))


@dataclass(frozen=True, slots=True)
class Reaped:
    """A job with items whose lease ran out; `job_state` is set when that ended the job."""

    job_id: UUID
    crashed: int
    job_state: str | None


def overdue_machines() -> Statement[list[str]]:
    """Return the machines of leases that have run out, as `machine()` names them."""
    return call("overdue_machines", {}, lambda rows: [row["overdue_machines"] for row in rows])


def recover(until: datetime | None, lost: Collection[str]) -> Statement[int]:
    """Make items ready again whose leases ran out before `until` or on a lost machine, and count no crash.

    Returns how many."""
    arguments = {"until": until, "lost": list(lost), "limit": SWEEP_ROWS}
    return call("recover", arguments, lambda rows: int(rows[0]["recover"]))


def reap() -> Statement[Reaped | None]:
    """Take the items of one job back from workers whose leases have run out."""
    return call(
        "reap", {"max_crashes": MAX_CRASHES, "error": Jsonb(CRASHED)}, lambda rows: Reaped(**rows[0]) if rows else None
    )


def expire() -> Statement[UUID | None]:
    """End one job that is past its deadline."""
    return call("expire", {"error": Jsonb(EXPIRED)}, lambda rows: rows[0]["expire"])


def end_suspended() -> Statement[UUID | None]:
    """End one open job of an account that is suspended."""
    return call("end_suspended", {"error": Jsonb(SUSPENDED)}, lambda rows: rows[0]["end_suspended"])


def purge() -> Statement[int | None]:
    """Delete items and request of one job whose result has expired; None when there is none."""
    return call("purge", {"limit": SWEEP_ROWS}, lambda rows: rows[0]["purge"])


def retire(used: Collection[str], keep: timedelta) -> Statement[list[str]]:
    """Drop the functions of other versions that were not in use for so long; returns their schemas.

    `used` are the schemas of all processes that run."""
    return call("retire", {"used": list(used), "keep": keep}, lambda rows: [row["retire"] for row in rows])


def forget(older_than: timedelta) -> Statement[int]:
    """Delete the summaries of jobs that ended so long ago."""
    return call("forget", {"older_than": older_than, "limit": SWEEP_ROWS}, lambda rows: rows[0]["forget"])
