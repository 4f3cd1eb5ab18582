"""Retention: ended jobs are kept past their expiry, or erased before it; an erased one's summary and ledger stay."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import Statement
from pipeline.lifecycle.schema import call
from pipeline.lifecycle.sweep import SWEEP_ROWS

#: Why a job is not kept, or not let go.
KeepRefusal = Literal["missing", "open", "gone", "too_many"]
#: Stands in place of a deleted job's error message, which may have quoted the request.
DELETED_MESSAGE = "The request and its result have been deleted."


def keep(job_id: UUID, account_id: UUID, *, keeps: bool, most: int) -> Statement[KeepRefusal | None]:
    """Keep an ended job past its expiry, or let it expire; an account keeps `most` at once."""
    return call(
        "keep", {"job": job_id, "account": account_id, "keeps": keeps, "most": most}, lambda rows: rows[0]["keep"]
    )


def edit(job_id: UUID, account_id: UUID, index: int, texts: Mapping[str, object] | None) -> Statement[bool]:
    """Note a reader's version of a delivered item's texts; None forgets it. Returns whether there is such an item."""
    return call(
        "edit",
        {"job": job_id, "account": account_id, "index": index, "texts": None if texts is None else Jsonb(texts)},
        lambda rows: bool(rows[0]["edit"]),
    )


def find_kept() -> Statement[list[UUID]]:
    """Return all kept jobs."""
    return Statement("SELECT id FROM job WHERE kept_at IS NOT NULL", {}, lambda rows: [row["id"] for row in rows])


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
