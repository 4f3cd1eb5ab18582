"""Index jobs: checks and submissions of URLs, read from their items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self
from uuid import UUID

from psycopg.types.json import Jsonb
from pydantic import BaseModel, Field

from capabilities.index_check.providers.rests import WaitingFor, asked_again, resting
from pipeline.database import SQL, Statement, page_of, read_page, row_of
from pipeline.lifecycle.jobs import SELECT_JOBS, Job, select_page
from pipeline.timestamps import Timestamp

KIND = "index_check"
SUBMIT_KIND = "index_submit"
#: The lane of URLs of connected sites, which are asked of the owners' services first (handlers/owned.py).
OWNED_LANE = f"{KIND}_owned"

PROVIDERS: Mapping[str, str] = {
    "serper": "google",
    "serpapi": "google",
    "brave_api": "brave",
    "searxng": "mixed",  # unless it asks one engine alone
    # It takes most links from Bing, and some from its own indexes: Bing may have what it misses.
    "duckduckgo": "duckduckgo",
    "bing": "bing",
}
#: Names of the indexes for people, if they differ from their capitalised names.
TITLES = {"duckduckgo": "DuckDuckGo", "mixed": "Several engines"}

#: The kind of each type of index jobs, and the family of its engines.
KINDS: Mapping[str, str] = {"check": KIND, "submit": SUBMIT_KIND}
FAMILIES: Mapping[str, str] = {KIND: "search", SUBMIT_KIND: "submission"}
#: Items after which the job's own rate tells more than the pace.
TELLING = 10


def title_of(index: str) -> str:
    return TITLES.get(index, index.capitalize())


def type_of(kind: str) -> str:
    return next(name for name, known in KINDS.items() if known == kind)


@dataclass(frozen=True, slots=True)
class CountedJob:
    """A job, and the counts of its URLs.

    While it runs, `now` is the database's clock, `begins` the time when a provider may be asked again, and `resting`
    the providers that it waits for."""

    job: Job
    indexed: int
    rate_limited: int
    now: datetime | None = None
    begins: datetime | None = None
    resting: Sequence[dict[str, Any]] | None = None

    @property
    def waiting_for(self) -> WaitingFor | None:
        return WaitingFor.of(self.resting)

    @property
    def pending(self) -> int:
        return 0 if self.job.is_final else self.job.items_total - self.job.items_ok - self.job.items_failed


class IndexJob(BaseModel):
    """An index job."""

    id: UUID
    name: str | None
    type: str
    total_urls: int
    processed_urls: int
    indexed_count: int
    submitted_count: int | None
    status: str
    error_message: str | None
    created_at: Timestamp
    pending_count: int
    failed_count: int
    rate_limited_count: int = Field(description="URLs that were blocked, or wait for a block to end.")
    sitemap_url: str | None
    eta: Timestamp | None
    waiting_for: WaitingFor | None = Field(
        description="Why its URLs wait: all providers rest, or the last ones asked did not answer."
    )

    @classmethod
    def of(cls, counted: CountedJob, *, interval: timedelta = timedelta()) -> Self:
        """Return a job's document. A URL takes an `interval`, until the job's own rate tells more."""
        job, waiting_for = counted.job, counted.waiting_for
        processed = job.items_ok + job.items_failed
        status = status_of_job(job)
        has_message = status in {"cancelled", "failed"}
        return cls(
            id=job.id,
            name=job.name,
            type=type_of(job.kind),
            total_urls=job.items_total,
            processed_urls=processed,
            indexed_count=counted.indexed,
            submitted_count=job.items_ok if job.kind == SUBMIT_KIND else None,
            status=status,
            error_message=str((job.error or {}).get("message", "")) or None if has_message else None,
            created_at=job.created_at,
            pending_count=counted.pending,
            # The other URLs of a cancelled or expired job have no answer either: their records say failed.
            failed_count=job.items_total - job.items_ok if job.is_final else job.items_failed,
            rate_limited_count=counted.rate_limited + (counted.pending if waiting_for and waiting_for.is_block else 0),
            sitemap_url=job.request.get("sitemap_url"),
            eta=_end_of(counted, interval),
            waiting_for=waiting_for,
        )


def status_of_job(job: Job) -> str:
    """Return an index job's status: running, complete, failed or cancelled."""
    if not job.is_final:
        return "running"
    if job.state == "cancelled":
        return "cancelled"
    return "complete" if job.items_ok + job.items_failed == job.items_total else "failed"


_ALL_ENDED = "j.items_ok + j.items_failed = j.items_total"
#: The same in SQL, of a table of jobs that is called j.
_STATUSES: Mapping[str, SQL] = {
    "running": SQL("j.finished_at IS NULL"),
    "complete": SQL(f"j.finished_at IS NOT NULL AND j.state <> 'cancelled' AND {_ALL_ENDED}"),
    "failed": SQL(f"j.finished_at IS NOT NULL AND j.state <> 'cancelled' AND NOT {_ALL_ENDED}"),
    "cancelled": SQL("j.state = 'cancelled'"),
}
JOB_STATUSES = tuple(_STATUSES)


def _end_of(counted: CountedJob, interval: timedelta) -> datetime | None:
    job = counted.job
    if job.is_final or counted.now is None or counted.begins is None:
        return None
    processed = job.items_ok + job.items_failed
    if processed >= TELLING and job.started_at is not None:
        interval = (counted.now - job.started_at) / processed
    return counted.begins + (job.items_total - processed) * interval


#: Rows of the providers that may be asked about the job's URLs. A provider has one for each key that it ever had; the
#: one that was asked last counts. Submission engines have none; their URLs wait by themselves.
_ROWS = SQL(
    "SELECT DISTINCT ON (split_part(s.name, ':', 1)) s.*, split_part(s.name, ':', 1) AS provider"
    " FROM search_provider s WHERE split_part(s.name, ':', 1) = ANY("
    "CASE WHEN p.kind = %(submit)s THEN '{}' WHEN p.request->>'engine' IS NOT NULL THEN ARRAY[p.request->>'engine']"
    " WHEN p.request->>'index' IS NOT NULL"
    " THEN ARRAY(SELECT jsonb_array_elements_text(%(indexes)s -> (p.request->>'index')))"
    " ELSE %(providers)s END)"
    " ORDER BY split_part(s.name, ':', 1), s.next_at DESC"
)
_BEGINS = SQL(
    # The first to be free of those that are not out of use.
    "greatest(now(), (SELECT min(greatest(f.next_at, f.open_until)) FROM ({rows}) f"
    " WHERE coalesce(f.off_until <= now(), true)),"
    " (SELECT max(i.run_at) FROM item i"
    " WHERE p.kind = %(submit)s AND p.finished_at IS NULL AND i.job_id = p.id AND i.state = 'waiting'))"
).format(rows=_ROWS)
_IS_ASKED_ELSEWHERE = SQL(
    # A service for site owners is asked about some URLs. Few accounts have one, so others' URLs are not read.
    "EXISTS (SELECT FROM site_connection c WHERE c.account_id = p.account_id) AND EXISTS (SELECT FROM item i"
    " WHERE i.job_id = p.id AND i.lane = %(owned)s AND i.state IN ('waiting', 'ready', 'leased'))"
)
_RESTING = SQL("CASE WHEN p.finished_at IS NULL THEN coalesce({resting}, {asked_again}) END").format(
    resting=resting(_ROWS, unless=_IS_ASKED_ELSEWHERE), asked_again=asked_again(SQL("p"))
)
_COUNTED = SQL(
    # Counted from the items, and so never wrong; each count has its own index (models/index_check.py).
    "SELECT p.*, now() AS now, {begins} AS begins, {resting} AS resting,"
    " (SELECT count(*) FROM item i WHERE i.job_id = p.id AND i.output->>'reason' = 'indexed') AS indexed,"
    " (SELECT count(*) FROM item i WHERE i.job_id = p.id"
    " AND i.state = 'failed' AND i.error->>'reason' = 'rate_limited') AS rate_limited FROM ({jobs}) p"
)
_FIND = _COUNTED.format(
    begins=_BEGINS,
    resting=_RESTING,
    jobs=SQL(
        "{select} WHERE j.id = %(id)s AND j.account_id IS NOT DISTINCT FROM %(account)s AND j.kind = ANY(%(kinds)s)"
    ).format(select=SELECT_JOBS),
)


def providers_for(request: Mapping[str, Any], providers: Sequence[str]) -> list[str]:
    if engine := request.get("engine"):
        return [engine]
    index = request.get("index")
    return [name for name in providers if index in (None, PROVIDERS.get(name, name))]


def _asked(providers: Sequence[str]) -> dict[str, Any]:
    indexes = {index: providers_for({"index": index}, providers) for index in PROVIDERS.values()}
    return {"submit": SUBMIT_KIND, "owned": OWNED_LANE, "providers": list(providers), "indexes": Jsonb(indexes)}


def _counted(**row: Any) -> CountedJob:
    counted = {name: row.pop(name) for name in ("indexed", "rate_limited", "now", "begins", "resting")}
    return CountedJob(Job(**row), **counted)


def find_index_job(job_id: UUID, account_id: UUID, *, providers: Sequence[str]) -> Statement[CountedJob | None]:
    """Read an account's index job; `providers` may be asked about its URLs."""
    return Statement(
        _FIND, {"id": job_id, "account": account_id, "kinds": list(FAMILIES), **_asked(providers)}, row_of(_counted)
    )


#: The kinds are literals, for their index: else all jobs of the account would be read.
_LISTED = SQL(
    "j.account_id = %(account)s AND j.kind IN ({kinds}) AND j.kind = ANY(%(kinds)s)"
    " AND j.purged_at IS NULL AND coalesce(j.expires_at >= now(), true)"
).format(kinds=SQL(", ").join([KIND, SUBMIT_KIND]))


def list_index_jobs(
    account_id: UUID,
    *,
    providers: Sequence[str],
    wanted: str | None = None,
    name: str | None = None,
    statuses: Sequence[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int,
    offset: int,
) -> Statement[tuple[list[CountedJob], int]]:
    """Read a page of an account's index jobs, newest first, and their total.

    `wanted` is a type; `statuses` are of JOB_STATUSES, by default any; `until` is exclusive. Jobs whose URLs have been
    deleted are left out."""
    conditions = {
        _LISTED: True,
        SQL("j.request->>'name' = %(name)s"): name is not None,
        SQL("({})").format(SQL(" OR ").join(_STATUSES[status] for status in statuses)): bool(statuses),
        SQL("j.created_at >= %(since)s"): since is not None,
        SQL("j.created_at < %(until)s"): until is not None,
    }
    where = SQL(" AND ").join(condition for condition, is_wanted in conditions.items() if is_wanted)
    return Statement(
        page_of(
            _COUNTED.format(begins=_BEGINS, resting=_RESTING, jobs=select_page(where)),
            total=SQL("job j WHERE {}").format(where),
            order=SQL("p.created_at DESC, p.id"),
        ),
        {
            "account": account_id,
            "kinds": [KINDS[wanted]] if wanted else list(FAMILIES),
            **_asked(providers),
            "name": name,
            "since": since,
            "until": until,
            "limit": limit,
            "offset": offset,
        },
        read_page(_counted),
    )
