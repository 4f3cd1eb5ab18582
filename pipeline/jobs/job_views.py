"""Job views: subjects, items and counts of jobs, as pages show them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

from pipeline.database import SQL, Row, Statement, rows_of
from pipeline.kind import AnyKind
from pipeline.lifecycle.jobs import Item, Job
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
    """The subject of a job: the beginning of its first item's text, and the key of a picture or sound of it."""

    subject: str | None
    artifact: str | None


#: An item's name, or else the beginning of its text; neither a picture in a URL nor a mark of an upload.
_SUBJECT = SQL(
    "coalesce(nullif(i.input ->> 'name', ''),"
    " substring(left(i.input ->> {field}, %(characters)s) FROM '^(?!data:|upload:).*'))"
)


def read_subjects(jobs: Sequence[Job], kinds: Kinds) -> Statement[dict[UUID, Subject]]:
    """Read what the first items of some jobs are about, cut, and the artifacts that stand for them.

    Deleted jobs have none."""
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


@dataclass(frozen=True, slots=True)
class EndedItem:
    """An item that has ended, what it is about, the key of its picture or sound, and its reader's version."""

    item: Item
    subject: str | None
    artifact: str | None
    edited: dict[str, Any] | None


def read_ended(job_id: UUID, kind: AnyKind) -> Statement[list[EndedItem]]:
    """Read the items of a job that have ended, in order of the request."""
    own = SQL(", ").join(SQL(f"i.{one.name}") for one in fields(Item))

    def read(row: Row) -> EndedItem:
        more = {name: row.pop(name) for name in ("subject", "artifact", "edited")}
        return EndedItem(Item(**row), **more)

    return Statement(
        SQL(
            "SELECT {own}, {subject} AS subject, i.output #>> %(shown_by)s::text[] AS artifact, i.edited"
            " FROM item i WHERE i.job_id = %(job)s AND i.state IN ('done', 'failed', 'cancelled') ORDER BY i.index"
        ).format(own=own, subject=_SUBJECT.format(field=SQL("%(field)s::text"))),
        {"job": job_id, "field": kind.subject, "characters": SHOWN_CHARACTERS, "shown_by": list(kind.shown_by) or None},
        lambda rows: [read(row) for row in rows],
    )
