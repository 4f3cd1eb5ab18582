"""Erasing: what a job was asked and has delivered is deleted before its time; its summary and the ledger stay."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from pipeline.database import Statement
from pipeline.lifecycle.schema import call
from pipeline.lifecycle.sweep import SWEEP_ROWS

#: Stands in place of a deleted job's error message, which may have quoted the request.
DELETED_MESSAGE = "What was asked and answered has been deleted."


@dataclass(frozen=True, slots=True)
class Erased:
    """One step of erasing: the state that the job had (None: no such job), and how many of its items went."""

    state: str | None
    gone: int

    @property
    def goes_on(self) -> bool:
        """True if there may be more items."""
        return self.gone == SWEEP_ROWS


def erase(job_id: UUID, account_id: UUID) -> Statement[Erased]:
    """Delete the request, the answer and some items of an account's ended job; an open one stays as it is."""
    return call(
        "erase",
        {"job": job_id, "account": account_id, "message": DELETED_MESSAGE, "limit": SWEEP_ROWS},
        lambda rows: Erased(**rows[0]),
    )


def erased(job_id: UUID) -> Statement[bool]:
    """Note that all of a deleted job is gone, its files too; false: it has items yet, or this was noted before."""
    return call("erased", {"job": job_id}, lambda rows: bool(rows[0]["erased"]))


def find_being_deleted(since: timedelta) -> Statement[list[tuple[UUID, UUID]]]:
    """Return jobs, and their accounts, whose deletion began so long ago and has not ended."""
    return Statement(
        "SELECT id, account_id FROM job WHERE deleted_at < now() - %(since)s AND purged_at IS NULL"
        " ORDER BY deleted_at LIMIT 100",
        {"since": since},
        lambda rows: [(row["id"], row["account_id"]) for row in rows],
    )
