"""Keeping: jobs that their account keeps past expiry, and what its readers have made of delivered texts."""

from collections.abc import Mapping
from typing import Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import Statement
from pipeline.lifecycle.schema import call

#: Why a job is not kept, or not let go.
KeepRefusal = Literal["missing", "open", "gone", "too_many"]


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
