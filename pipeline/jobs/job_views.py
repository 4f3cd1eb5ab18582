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


@dataclass(frozen=True, slots=True)
class Subject:
    """What a job is about: the beginning of its first item's text, and the key of a picture or sound of it."""

    subject: str | None
    artifact: str | None


#: An item's name, or else the beginning of its text; neither a picture in a URL nor a mark of an upload.
_SUBJECT = SQL(
    "coalesce(nullif(i.input ->> 'name', ''),"
    " substring(left(i.input ->> {field}, %(characters)s) FROM '^(?!data:|upload:).*'))"
)


def read_subjects(jobs: Sequence[Job], kinds: Kinds) -> Statement[dict[UUID, Subject]]:
    """Read what the first items of some jobs are about, cut, and the artifacts that stand for them.

    Those that have been deleted have nothing."""
    wanted = [(job.id, kinds[job.kind]) for job in jobs if job.kind in kinds and not job.is_gone]
    return Statement(
        SQL(
            "SELECT w.id, {subject} AS subject, i.output #>> string_to_array(w.shown_by, '.') AS artifact"
            " FROM unnest(%(ids)s::uuid[], %(fields)s::text[], %(shown)s::text[]) w (id, field, shown_by)"
            " JOIN item i ON i.job_id = w.id AND i.index = 0"
        ).format(subject=_SUBJECT.format(field=SQL("w.field"))),
        {
            "ids": [job_id for job_id, _ in wanted],
            "fields": [kind.subject for _, kind in wanted],
            "shown": [".".join(kind.shown_by) or None for _, kind in wanted],
            "characters": SHOWN_CHARACTERS,
        },
        lambda rows: {row.pop("id"): Subject(**row) for row in rows},
    )


def list_items(job: Job, kinds: Kinds, *, limit: int, offset: int) -> Statement[list[ItemView]]:
    """Read some items of a job, in order of the request."""
    kind = kinds.get(job.kind)

    return Statement(
        SQL(
            "SELECT i.index, i.state, {subject} AS subject, i.output, i.error"
            " FROM item i WHERE i.job_id = %(job)s AND i.index >= %(offset)s ORDER BY i.index LIMIT %(limit)s"
        ).format(subject=_SUBJECT.format(field=SQL("%(field)s::text"))),
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
