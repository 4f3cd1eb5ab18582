"""Jobs and items as their readers see them; `pipeline.lifecycle` is what writes them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, Literal, get_args
from uuid import UUID

from pipeline.database import SQL, Row, Statement, columns, row_of, rows_of
from pipeline.lifecycle import SCHEMA, Priority, Submission, Submitted

#: A job's states, as `models.jobs` has them for its CHECK; it never leaves any but the first two.
JobState = Literal["queued", "running", "succeeded", "partial", "failed", "cancelled", "expired"]
JOB_STATES: tuple[str, ...] = get_args(JobState)
FINAL_STATES = frozenset(JOB_STATES[2:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job's row, with the progress of its only item where it has one. Defaults are those of a new job.

    A field is read from the column of its name, and set from a submission's field of its name."""

    id: UUID
    account_id: UUID
    api_key_id: UUID
    kind: str
    route: str
    source: str | None
    request: dict[str, Any]
    request_id: str
    state: str = "queued"
    items_total: int
    items_ok: int = 0
    items_failed: int = 0
    credits_held: int
    credits_captured: int = 0
    engine: str | None = None
    error: dict[str, Any] | None = None
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    expires_at: datetime | None = None
    deleted_at: datetime | None = None  # by its account
    kept_at: datetime | None = None  # by its account
    webhook_url: str | None = None
    webhook_events: list[str] | None = None
    priority: Priority = "normal"
    is_gone: bool = False  # its result has expired or was deleted
    progress: dict[str, Any] | None = None

    @property
    def name(self) -> str | None:
        """The name in its request, for kinds that have names."""
        name = self.request.get("name")
        return name if isinstance(name, str) else None

    @property
    def is_final(self) -> bool:
        """True if it has ended, one way or the other."""
        return self.finished_at is not None

    @property
    def credits_released(self) -> int:
        """Credits given back at its end."""
        return self.credits_held - self.credits_captured if self.is_final else 0


@dataclass(frozen=True, slots=True)
class Item:
    """An item's row, without what only its worker needs."""

    id: int
    public_id: UUID
    index: int
    state: str
    input: dict[str, Any]  # empty where its reader has no need of it: a text may be long
    captured: int
    output: dict[str, Any] | None
    error: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime


_IS_GONE = SQL("j.purged_at IS NOT NULL OR j.deleted_at IS NOT NULL OR coalesce(j.expires_at < now(), false)")
_JOB_COLUMNS = SQL("{stored}, ({is_gone}) AS is_gone").format(
    stored=columns((one.name for one in fields(Job) if one.name not in {"is_gone", "progress"}), table="j"),
    is_gone=_IS_GONE,
)
_SELECT_FROM = SQL(
    "SELECT {columns}, (SELECT i.progress FROM item i WHERE i.job_id = j.id AND j.items_total = 1) AS progress"
    " FROM {jobs} j"
)
SELECT_JOBS = _SELECT_FROM.format(columns=_JOB_COLUMNS, jobs=SQL("job"))
SELECT_ITEMS = SQL("SELECT {columns} FROM item i").format(
    columns=columns((one.name for one in fields(Item)), table="i")
)
_SUBMITTED = {one.name for one in fields(Job)} & {one.name for one in fields(Submission)}


def new_job(submission: Submission, submitted: Submitted) -> Job | None:
    """Return the job as it is right after its submission, without reading it; None when only its row can tell."""
    if submitted.outcome != "accepted" or submitted.created_at is None:
        return None
    own: dict[str, Any] = {name: getattr(submission, name) for name in _SUBMITTED}
    return Job(
        id=submission.job_id,
        items_total=len(submission.items),
        credits_held=submitted.required,
        created_at=submitted.created_at,
        **own,
    )


def select_page(condition: SQL) -> SQL:
    """Return what reads a page of the jobs of a condition, newest first. Progress is looked up for those of the page
    alone, and not for those before it."""
    page = SQL(
        "(SELECT j.* FROM job j WHERE {condition} ORDER BY j.created_at DESC, j.id LIMIT %(limit)s OFFSET %(offset)s)"
    )
    return _SELECT_FROM.format(columns=_JOB_COLUMNS, jobs=page.format(condition=condition))


def find_job(job_id: UUID, account_id: UUID | None = None) -> Statement[Job | None]:
    """Read a job; with an account, only if it is that account's."""
    return Statement(
        f"{SELECT_JOBS} WHERE j.id = %(id)s AND (%(account)s::uuid IS NULL OR j.account_id = %(account)s)",
        {"id": job_id, "account": account_id},
        row_of(Job),
    )


def find_items(job_id: UUID) -> Statement[list[Item]]:
    return Statement(
        f"{SELECT_ITEMS} WHERE i.job_id = %(id)s ORDER BY i.index",
        {"id": job_id},
        rows_of(Item),
    )


@dataclass(frozen=True, slots=True)
class Delivery:
    """A job with what its answer is made of: its only item without its input, and what its account may spend now."""

    job: Job
    item: Item | None
    available: int


_ONLY_ITEM = SQL(", ").join(SQL(f"i.{one.name} AS item_{one.name}") for one in fields(Item) if one.name != "input")
_SELECT_DELIVERY = SQL(
    "SELECT {job}, i.progress, a.available, {item}"
    " FROM job j JOIN account a ON a.id = j.account_id LEFT JOIN item i ON i.job_id = j.id AND j.items_total = 1"
    # By its id alone: planned on a small table, the account's index looks as good, and reads its whole history.
    " WHERE j.id = %(id)s AND j.account_id IS NOT DISTINCT FROM %(account)s"
).format(job=_JOB_COLUMNS, item=_ONLY_ITEM)


def find_delivery(job_id: UUID, account_id: UUID) -> Statement[Delivery | None]:
    """Read the rows for the answer of an account's job, in one round trip."""
    return Statement(_SELECT_DELIVERY, {"id": job_id, "account": account_id}, _delivery)


def _delivery(rows: list[Row]) -> Delivery | None:
    if not rows:
        return None
    row = rows[0]
    item = {name[5:]: row.pop(name) for name in list(row) if name.startswith("item_")}
    available = row.pop("available")
    return Delivery(Job(**row), Item(input={}, **item) if item["id"] is not None else None, available)


_IS_REPLAY = SQL(
    "SELECT EXISTS (SELECT FROM job j WHERE j.account_id = %(account)s AND j.route = %(route)s AND"
    " j.idempotency_key = %(key)s AND j.request_hash = %(hash)s AND j.created_at > now() - %(window)s"
    " AND NOT {schema}.was_refused(j.state, j.error)) AS known"
).format(schema=SQL(SCHEMA))


def find_replay(
    account_id: UUID, *, route: str, idempotency_key: str, request_hash: bytes, window: timedelta
) -> Statement[bool]:
    """Tell whether a request was carried out before: its job can be had again, at no cost to anybody."""
    return Statement(
        _IS_REPLAY,
        {
            "account": account_id,
            "route": route,
            "key": idempotency_key,
            "hash": request_hash,
            "window": window,
        },
        lambda rows: bool(rows[0]["known"]),
    )


def find_ended(job_ids: Sequence[UUID]) -> Statement[list[UUID]]:
    return _find_ids("SELECT id FROM job WHERE id = ANY(%(ids)s) AND finished_at IS NOT NULL", job_ids)


def find_open(job_ids: Sequence[UUID]) -> Statement[list[UUID]]:
    return _find_ids("SELECT id FROM job WHERE id = ANY(%(ids)s) AND finished_at IS NULL", job_ids)


def _find_ids(sql: str, job_ids: Sequence[UUID]) -> Statement[list[UUID]]:
    return Statement(sql, {"ids": list(job_ids)}, lambda rows: [row["id"] for row in rows])
