"""Index jobs: index checks as their users see them, read from their items."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from pipeline.database import Row, Statement
from pipeline.jobs import SELECT_JOBS, Job
from pipeline.timestamps import timestamp

#: The kind of index jobs.
KIND = "index_check"
#: Items done before their rate tells more than the pace does.
TELLING = 10
NOTHING = timedelta()


class IndexJob(BaseModel):
    """An index job as its users see it."""

    id: str
    type: str
    total_urls: int
    processed_urls: int
    indexed_count: int
    submitted_count: int | None
    status: str
    error_message: str | None
    created_at: str
    pending_count: int
    failed_count: int
    rate_limited_count: int
    eta: str | None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of a job's URLs came out how."""

    indexed: int = 0
    rate_limited: int = 0


@dataclass(frozen=True, slots=True)
class CountedJob:
    """A job with its counts; `now` is the database's clock, `begins` when a provider may be asked again."""

    job: Job
    counts: Counts
    now: datetime
    begins: datetime


def index_job_document(
    job: Job, counts: Counts, *, now: datetime | None = None, rest: timedelta = NOTHING, interval: timedelta = NOTHING
) -> dict[str, Any]:
    """Return a job for its users; its end is guessed from `now`: the providers' rest, and then an interval a URL.

    `interval` is a guess, until the job's own rate tells more."""
    processed = job.items_ok + job.items_failed
    document = IndexJob(
        id=str(job.id),
        type="check",
        total_urls=job.items_total,
        processed_urls=processed,
        indexed_count=counts.indexed,
        submitted_count=None,
        status=status_of_job(job),
        error_message=_error_message(job),
        created_at=timestamp(job.created_at),
        pending_count=0 if job.is_final else job.items_total - processed,
        # A cancelled or expired job's other URLs have no answer either; their records say failed.
        failed_count=job.items_total - job.items_ok if job.is_final else job.items_failed,
        rate_limited_count=counts.rate_limited,
        eta=_eta(job, now, rest, interval),
    )
    return document.model_dump()


def status_of_job(job: Job) -> str:
    """Return an index job's status: running, complete, failed or cancelled."""
    if not job.is_final:
        return "running"
    if job.state == "cancelled":
        return "cancelled"
    # All URLs have come to their end, even if none of them well.
    return "complete" if job.items_ok + job.items_failed == job.items_total else "failed"


def _error_message(job: Job) -> str | None:
    if status_of_job(job) in {"running", "complete"}:
        return None
    return str((job.error or {}).get("message", "")) or None


def _eta(job: Job, now: datetime | None, rest: timedelta, interval: timedelta) -> str | None:
    if job.is_final or now is None:
        return None
    processed = job.items_ok + job.items_failed
    left = job.items_total - processed
    if processed >= TELLING and job.started_at is not None:
        interval = (now - job.started_at) / processed
    return timestamp(now + rest + left * interval)


_BEGINS = (
    # Of the providers that may be asked about the job's URLs and are not out of use, the one that is free first. A
    # provider has a row for each key that it ever had: the one that was asked last is the one that counts.
    "greatest(now(), (SELECT min(f.free_at) FROM ("
    "SELECT DISTINCT ON (split_part(s.name, ':', 1)) greatest(s.next_at, s.open_until) AS free_at, s.off_until"
    " FROM search_provider s WHERE split_part(s.name, ':', 1) = ANY("
    "CASE WHEN p.request->>'engine' IS NULL THEN %(providers)s ELSE ARRAY[p.request->>'engine'] END)"
    " ORDER BY split_part(s.name, ':', 1), s.next_at DESC) f WHERE coalesce(f.off_until <= now(), true)))"
)
_COUNTED = (
    # Counted where the URLs are, and never wrong; each count has an index of its own (models/index_check.py).
    f"SELECT p.*, now() AS now, {_BEGINS} AS begins,"  # noqa: S608  no values in it
    " (SELECT count(*) FROM item i WHERE i.job_id = p.id AND i.output->>'reason' = 'indexed') AS indexed,"
    " (SELECT count(*) FROM item i WHERE i.job_id = p.id"
    " AND i.state = 'failed' AND i.error->>'reason' = 'rate_limited') AS rate_limited"
)


def _counted(row: Row) -> CountedJob:
    counts = Counts(row.pop("indexed"), row.pop("rate_limited"))
    now, begins = row.pop("now"), row.pop("begins")
    return CountedJob(Job(**row), counts, now, begins)


def find_index_job(job_id: UUID, account_id: UUID, *, providers: Sequence[str]) -> Statement[CountedJob | None]:
    """Read an account's index job; `providers` may be asked about its URLs."""
    return Statement(
        f"{_COUNTED} FROM ({SELECT_JOBS} WHERE j.id = %(id)s AND j.account_id IS NOT DISTINCT FROM %(account)s"
        " AND j.kind = %(kind)s) p",
        {"id": job_id, "account": account_id, "kind": KIND, "providers": list(providers)},
        lambda rows: _counted(rows[0]) if rows else None,
    )


def list_index_jobs(
    account_id: UUID, *, providers: Sequence[str], limit: int, offset: int
) -> Statement[tuple[list[CountedJob], int]]:
    """Read a page of an account's index jobs, newest first, and how many there are in all.

    Those whose URLs have been deleted are left out: nothing counts them."""

    def read(rows: list[Row]) -> tuple[list[CountedJob], int]:
        totals = [row.pop("total") for row in rows]
        return [_counted(row) for row in rows if row["id"] is not None], totals[0]

    where = (
        "j.account_id = %(account)s AND j.kind = %(kind)s"
        " AND j.purged_at IS NULL AND coalesce(j.expires_at >= now(), true)"
    )
    return Statement(
        f"SELECT c.*, t.total FROM (SELECT count(*) AS total FROM job j WHERE {where}) t LEFT JOIN ("  # noqa: S608
        f"{_COUNTED} FROM ({SELECT_JOBS} WHERE {where} ORDER BY j.created_at DESC, j.id"
        " LIMIT %(limit)s OFFSET %(offset)s) p) c ON true ORDER BY c.created_at DESC, c.id",
        {"account": account_id, "kind": KIND, "providers": list(providers), "limit": limit, "offset": offset},
        read,
    )
