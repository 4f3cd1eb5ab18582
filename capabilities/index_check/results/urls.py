"""Index URLs: the records of an index job's URLs, read from its items."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, get_args
from uuid import UUID

from pydantic import BaseModel, Field

from capabilities.index_check.results.raw_result import RawResult
from pipeline.database import SQL, Statement, page_of, read_page, rows_of
from pipeline.lifecycle.jobs import SELECT_ITEMS, Item
from pipeline.timestamps import Timestamp

Status = Literal["pending", "processing", "done", "failed"]

STATES: Mapping[str, tuple[str, ...]] = {
    "pending": ("waiting", "ready"),
    "processing": ("leased",),
    "done": ("done",),
    "failed": ("failed", "cancelled"),
}
STATUSES: tuple[Status, ...] = get_args(Status)
_REASON = SQL(
    "CASE WHEN i.state = 'done' THEN coalesce(i.output->>'reason', 'error')"
    " WHEN i.state IN ('failed', 'cancelled') THEN coalesce(i.error->>'reason', 'error') END"
)


class UrlRecord(BaseModel):
    """The record of a URL of an index job."""

    id: UUID
    url: str
    sent_url: str | None = Field(description="The entry as sent, if it was completed: a bare domain.")
    status: Status
    is_indexed: bool | None
    search_status: str | None = Field(description="The outcome of a submission; null for a check.")
    raw_result: RawResult | None
    last_error: str | None = Field(description="Why a pending URL waits, or is tried again.")
    created_at: Timestamp
    updated_at: Timestamp

    @classmethod
    def of(cls, item: Item, *, waits: str | None = None) -> Self:
        """Return the record of an item's URL. `waits` is why URLs wait that were not asked about yet."""
        status = next(status for status in STATUSES if item.state in STATES[status])
        error = item.error or {}
        found: dict[str, Any] = {}
        if status == "done":
            found = dict(item.output or {})
        elif status == "failed":
            code = "cancelled" if error.get("code") == "job_cancelled" else error.get("code", "internal_error")
            shown = {name: value for name, value in error.items() if name not in {"status", "error"}}
            found = {"reason": "error", **shown, "code": code}
        search_status = found.pop("search_status", None)
        raw_result = RawResult.model_validate(found) if found else None
        return cls(
            id=item.public_id,
            url=item.input["url"],
            sent_url=item.input.get("sent"),
            status=status,
            is_indexed={"indexed": True, "not_indexed": False}.get(raw_result.reason) if raw_result else None,
            search_status=search_status,
            raw_result=raw_result,
            last_error=error.get("message", waits if status == "pending" else None) if raw_result is None else None,
            created_at=item.created_at,
            updated_at=item.updated_at,
        )


def list_urls(
    job_id: UUID,
    *,
    statuses: Sequence[str] = (),
    reasons: Sequence[str] = (),
    waits: str | None = None,
    limit: int,
    offset: int,
) -> Statement[tuple[list[UrlRecord], int]]:
    """Read a page of a job's URLs with some statuses and reasons, or any, in input order, and their total.

    `waits` is why its URLs wait, if they do."""
    where = SQL("i.job_id = %(job)s AND {has_status} AND {has_reason}").format(
        has_status=SQL("i.state = ANY(%(states)s)" if statuses else "true"),
        has_reason=SQL("{} = ANY(%(reasons)s)").format(_REASON) if reasons else SQL("true"),
    )
    return Statement(
        page_of(
            SQL("{select} WHERE {where} ORDER BY i.index LIMIT %(limit)s OFFSET %(offset)s").format(
                select=SELECT_ITEMS, where=where
            ),
            total=SQL("item i WHERE {}").format(where),
            order=SQL("p.index"),
        ),
        {
            "job": job_id,
            "states": [state for status in statuses for state in STATES[status]],
            "reasons": list(reasons),
            "limit": limit,
            "offset": offset,
        },
        read_page(lambda **row: UrlRecord.of(Item(**row), waits=waits)),
    )


def next_urls(job_id: UUID, *, after: int, limit: int) -> Statement[list[Item]]:
    """Read the URLs after an index, in input order; -1 begins."""
    return Statement(
        f"{SELECT_ITEMS} WHERE i.job_id = %(job)s AND i.index > %(after)s ORDER BY i.index LIMIT %(limit)s",
        {"job": job_id, "after": after, "limit": limit},
        rows_of(Item),
    )


def urls_to_retry(job_id: UUID, *, reason: str | None = None) -> Statement[list[str]]:
    return Statement(
        SQL(
            "SELECT i.input->>'url' AS url FROM item i"
            " WHERE i.job_id = %(job)s AND i.input->>'fault' IS NULL AND CASE WHEN %(reason)s::text IS NULL"
            " THEN i.state IN ('failed', 'cancelled') ELSE {} = %(reason)s END ORDER BY i.index"
        ).format(_REASON),
        {"job": job_id, "reason": reason},
        lambda rows: [row["url"] for row in rows],
    )
