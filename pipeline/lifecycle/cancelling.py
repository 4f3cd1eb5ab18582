"""Cancelling: a job ends at once, by its account or the operator."""

from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import Statement
from pipeline.lifecycle.schema import call

#: Why the items of a cancelled job ended, as their users see it.
CANCELLED = {
    "status": 409,
    "error": "Conflict",
    "code": "job_cancelled",
    "message": "The job was cancelled. What was not delivered was not charged.",
}

_CANCEL = call("cancel", "job", "account", "error")


def cancel(job_id: UUID, account_id: UUID | None) -> Statement[str | None]:
    """End a job at once; returns the state it was in, None for no such job. No account means the operator."""
    return Statement(
        _CANCEL,
        {"job": job_id, "account": account_id, "error": Jsonb(CANCELLED)},
        lambda rows: rows[0]["cancel"],
    )
