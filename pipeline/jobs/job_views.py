"""Job views: what pages show of jobs beside their rows: of which texts or URLs they are, and some of their items."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pipeline.database import Row, Statement
from pipeline.lifecycle.jobs import Job
from pipeline.registry import Kinds

#: Characters of a text that are shown in a list.
SHOWN_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class ItemView:
    """An item as a page shows it: its place from 0, and its subject, cut."""

    index: int
    state: str
    subject: str | None
    output: dict[str, Any] | None
    error: dict[str, Any] | None


def read_subjects(jobs: Sequence[Job], kinds: Kinds) -> Statement[dict[UUID, str]]:
    """Read what the first items of some jobs are about, cut; those that have been deleted have nothing."""
    fields = {job.id: kinds[job.kind].subject for job in jobs if job.kind in kinds and not job.is_gone}
    wanted = {job_id: field for job_id, field in fields.items() if field is not None}
    return Statement(
        "SELECT w.id, left(i.input ->> w.field, %(characters)s) AS subject"
        " FROM unnest(%(ids)s::uuid[], %(fields)s::text[]) w (id, field)"
        " JOIN item i ON i.job_id = w.id AND i.index = 0 WHERE i.input ->> w.field IS NOT NULL",
        {"ids": list(wanted), "fields": list(wanted.values()), "characters": SHOWN_CHARACTERS},
        lambda rows: {row["id"]: row["subject"] for row in rows},
    )


def list_items(job: Job, kinds: Kinds, *, limit: int, offset: int) -> Statement[list[ItemView]]:
    """Read some items of a job, in order of the request."""
    kind = kinds.get(job.kind)

    def read(rows: list[Row]) -> list[ItemView]:
        return [ItemView(**row) for row in rows]

    return Statement(
        "SELECT i.index, i.state, left(i.input ->> %(field)s::text, %(characters)s) AS subject, i.output, i.error"
        " FROM item i WHERE i.job_id = %(job)s AND i.index >= %(offset)s ORDER BY i.index LIMIT %(limit)s",
        {
            "job": job.id,
            "field": kind.subject if kind else None,
            "characters": SHOWN_CHARACTERS,
            "limit": limit,
            "offset": offset,
        },
        read,
    )
