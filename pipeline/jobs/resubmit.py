"""Resubmit: a new job of the items that an ended job did not deliver."""

import hashlib
from datetime import timedelta
from typing import Any

from pipeline.database import Row, Statement
from pipeline.kind import AnyKind
from pipeline.lifecycle import Submission
from pipeline.lifecycle.jobs import Job
from pipeline.settings import Settings

#: Fields that the new job has from the old one.
SAME = ("account_id", "api_key_id", "kind", "route", "source", "request", "webhook_url", "webhook_events", "priority")


def lifetimes(kind: AnyKind, settings: Settings) -> tuple[timedelta, timedelta]:
    """Return how long a job of the kind may take, and how long its result is kept."""
    deadline = kind.limits.deadline or timedelta(hours=settings.work.deadline_hours)
    keep_for = kind.limits.keep_for or timedelta(hours=settings.retention.result_hours)
    return deadline, keep_for


def has_repeatable(job: Job, kind: AnyKind) -> Statement[bool]:
    """Read whether a job has items to resubmit, judged by its first failed and cancelled ones."""
    return Statement(
        "SELECT input FROM item WHERE job_id = %(job)s AND state IN ('failed', 'cancelled') ORDER BY index LIMIT 50",
        {"job": job.id},
        lambda rows: any(kind.can_repeat(row["input"]) for row in rows),
    )


def resubmission(job: Job, kind: AnyKind, settings: Settings) -> Statement[Submission | None]:
    """Read the failed and cancelled items of a job as a new submission; None when none can be repeated."""
    deadline, keep_for = lifetimes(kind, settings)
    same: dict[str, Any] = {name: getattr(job, name) for name in SAME}

    def read(rows: list[Row]) -> Submission | None:
        wanted = [row for row in rows if kind.can_repeat(row["input"])]
        if not wanted:
            return None
        return Submission(
            **same,
            request_id=f"retry-{job.id}",
            request_hash=hashlib.sha256(b"retry " + job.id.bytes).digest(),
            items=[(row["input"], row["price"], row["lane"]) for row in wanted],
            deadline=deadline,
            keep_for=keep_for,
            slice_size=kind.limits.slice_size,
            max_open_items=settings.limits.open_items,
        )

    return Statement(
        "SELECT input, price, coalesce(lane, kind) AS lane FROM item WHERE job_id = %(job)s"
        " AND state IN ('failed', 'cancelled') ORDER BY index",
        {"job": job.id},
        read,
    )
