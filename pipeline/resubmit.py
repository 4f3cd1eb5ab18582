"""Resubmit: a new job of what an ended one did not deliver."""

import hashlib
from datetime import timedelta

from pipeline.database import Row, Statement
from pipeline.jobs import Job
from pipeline.kind import Kind
from pipeline.lifecycle import Submission
from pipeline.settings import Settings


def lifetimes(kind: Kind, settings: Settings) -> tuple[timedelta, timedelta]:  # type: ignore[type-arg]  # any request
    """Return how long a job of the kind may take, and how long its result is kept."""
    deadline = kind.deadline or timedelta(hours=settings.work.deadline_hours)
    keep_for = kind.keep_for or timedelta(hours=settings.retention.result_hours)
    return deadline, keep_for


def resubmission(job: Job, kind: Kind, settings: Settings) -> Statement[Submission | None]:  # type: ignore[type-arg]
    """Read the failed and cancelled items of a job as a new submission; None when there are none (any more)."""
    deadline, keep_for = lifetimes(kind, settings)

    def read(rows: list[Row]) -> Submission | None:
        if not rows:
            return None
        return Submission(
            account_id=job.account_id,
            api_key_id=job.api_key_id,
            kind=job.kind,
            route=job.route,
            source=job.source,
            request=job.request,
            request_id=f"retry-{job.id}",
            request_hash=hashlib.sha256(job.id.bytes).digest(),
            items=[(row["input"], row["price"]) for row in rows],
            deadline=deadline,
            keep_for=keep_for,
            slice_size=kind.slice_size,
            max_open_items=settings.limits.open_items,
            claimed_as=rows[0]["kind"],
        )

    return Statement(
        "SELECT input, price, kind FROM item WHERE job_id = %(job)s AND state IN ('failed', 'cancelled')"
        " ORDER BY index",
        {"job": job.id},
        read,
    )
