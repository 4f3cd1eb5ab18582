"""Job views: subjects, items and counts of jobs, as pages show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pipeline.database import SQL, Statement, rows_of
from pipeline.lifecycle.jobs import Job
from pipeline.registry import Kinds
from pipeline.usage.usage_days import used_sql

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
        rows_of(ItemView),
    )


#: So many are counted; of more, nobody needs the number.
MOST_COUNTED = 10_000


def open_sql(account: SQL) -> SQL:
    """Return a query with one row: `open_jobs`, MOST_COUNTED at most, and `held`, which the ledger says."""
    return SQL(
        "SELECT (SELECT count(*) FROM (SELECT FROM job j"
        " WHERE j.account_id = {account} AND j.finished_at IS NULL LIMIT {most}) o) AS open_jobs,"
        " (SELECT coalesce(sum(u.held), 0)::bigint FROM ({used}) u) AS held"
    ).format(account=account, most=MOST_COUNTED, used=used_sql(account))
