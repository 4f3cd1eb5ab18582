"""Index URLs: the URLs of an index job as their users see them, read from its items."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pipeline.database import Row, Statement
from pipeline.jobs import ITEM_COLUMNS, Item

#: A URL's status, and the states of its item.
STATUSES: Mapping[str, tuple[str, ...]] = {
    "pending": ("waiting", "ready"),
    "processing": ("leased",),
    "done": ("done",),
    "failed": ("failed", "cancelled"),
}
REASONS = ("indexed", "not_indexed", "rate_limited", "error")
_REASON = (
    "CASE WHEN i.state = 'done' THEN coalesce(i.output->>'reason', 'error')"
    " WHEN i.state IN ('failed', 'cancelled') THEN coalesce(i.error->>'reason', 'error') END"
)


@dataclass(frozen=True, slots=True)
class UrlPage:
    """Some URLs of a job, and how many fit in all."""

    items: list[Item]
    total: int


def status_of(item: Item) -> str:
    """Return a URL's status."""
    return next(status for status, states in STATUSES.items() if item.state in states)


def reason_of(item: Item) -> str | None:
    """Return how a URL came out (docs/indexing.md, Records); None while it is not known."""
    if item.state == "done":
        return str((item.output or {}).get("reason", "error"))
    if item.state in {"failed", "cancelled"}:
        return str((item.error or {}).get("reason", "error"))
    return None


def raw_result_of(item: Item) -> dict[str, Any] | None:
    """Return what was found out about a URL; None while it is not known."""
    if item.state == "done":
        return item.output
    if item.state not in {"failed", "cancelled"}:
        return None
    error = {name: value for name, value in (item.error or {}).items() if name not in {"status", "error"}}
    code = "cancelled" if error.get("code") == "job_cancelled" else error.get("code", "internal_error")
    return {"reason": "error", **error, "code": code}


def list_urls(
    job_id: UUID, *, status: str | None = None, reason: str | None = None, limit: int, offset: int
) -> Statement[UrlPage]:
    """Read a page of a job's URLs, in input order."""

    def read(rows: list[Row]) -> UrlPage:
        total = rows[0].pop("total")
        items = [Item(**{n: v for n, v in row.items() if n != "total"}) for row in rows if row["id"] is not None]
        return UrlPage(items, total)

    where = "i.job_id = %(job)s"
    where += " AND i.state = ANY(%(states)s)" if status else ""
    where += f" AND {_REASON} = %(reason)s" if reason else ""
    return Statement(
        f"SELECT p.*, t.total FROM (SELECT count(*) AS total FROM item i WHERE {where}) t LEFT JOIN ("  # noqa: S608
        f"SELECT {ITEM_COLUMNS} FROM item i WHERE {where} ORDER BY i.index LIMIT %(limit)s OFFSET %(offset)s) p ON true"
        " ORDER BY p.index",
        {
            "job": job_id,
            "states": list(STATUSES.get(status or "", ())),
            "reason": reason,
            "limit": limit,
            "offset": offset,
        },
        read,
    )


def next_urls(job_id: UUID, *, after: int, limit: int) -> Statement[list[Item]]:
    """Read the URLs that come after one in input order; -1 begins."""
    return Statement(
        f"SELECT {ITEM_COLUMNS} FROM item i WHERE i.job_id = %(job)s AND i.index > %(after)s"  # noqa: S608
        " ORDER BY i.index LIMIT %(limit)s",
        {"job": job_id, "after": after, "limit": limit},
        lambda rows: [Item(**row) for row in rows],
    )


def failed_urls(job_id: UUID, *, reason: str | None = None) -> Statement[list[str]]:
    """Read the URLs of a job that have no answer, all of them or those with a reason."""
    return Statement(
        "SELECT i.input->>'url' AS url FROM item i WHERE i.job_id = %(job)s AND i.state IN ('failed', 'cancelled')"  # noqa: S608
        f" AND (%(reason)s::text IS NULL OR {_REASON} = %(reason)s) ORDER BY i.index",
        {"job": job_id, "reason": reason},
        lambda rows: [row["url"] for row in rows],
    )
