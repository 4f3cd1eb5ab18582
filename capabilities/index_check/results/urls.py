"""Index URLs: the URLs of an index job as their users see them, read from its items."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, get_args
from uuid import UUID

from pydantic import BaseModel, Field

from capabilities.index_check.results.diagnosis import Diagnosis
from capabilities.index_check.sites.inspection import Inspection
from pipeline.database import SQL, Statement, page_of, read_page
from pipeline.kind import Stored
from pipeline.lifecycle.jobs import SELECT_ITEMS, Item
from pipeline.timestamps import Timestamp

Status = Literal["pending", "processing", "done", "failed"]
Reason = Literal["indexed", "not_indexed", "submitted", "rate_limited", "error"]

#: The states of an item whose URL has a status.
STATES: Mapping[str, tuple[str, ...]] = {
    "pending": ("waiting", "ready"),
    "processing": ("leased",),
    "done": ("done",),
    "failed": ("failed", "cancelled"),
}
STATUSES: tuple[Status, ...] = get_args(Status)
REASONS: tuple[Reason, ...] = get_args(Reason)
_REASON = SQL(
    "CASE WHEN i.state = 'done' THEN coalesce(i.output->>'reason', 'error')"
    " WHEN i.state IN ('failed', 'cancelled') THEN coalesce(i.error->>'reason', 'error') END"
)


class NearMatch(BaseModel):
    """A row of the results that is not the URL, and how it is related to it."""

    url: str
    relation: str


class RawResult(Stored, extra="allow"):
    """What was found out about a URL, or why nothing was (docs/indexing.md, Records).

    Of a missing text the schema names no default: it is not shown."""

    reason: Reason
    code: str = Field(default_factory=str, description="The finer cause.")
    message: str = Field(default_factory=str, description="Why there is no answer, and what helps; of a failed URL.")
    provider: str = Field(default_factory=str, description="Who was asked.")
    index: str = Field(default_factory=str, description="Whose index answered: google, bing, brave, duckduckgo …")
    query: str = Field(default_factory=str)
    checked_at: str = Field(default_factory=str, json_schema_extra={"format": "date-time"})
    matched_url: str | None = None
    proof_url: str = Field(default_factory=str, alias="proofUrl", description="A results page; of an indexed URL.")
    near_matches: list[NearMatch] = Field(default_factory=list)
    inspection: Inspection | None = Field(None, description="What a service for site owners says of it.")
    diagnosis: Diagnosis | None = Field(None, description="Of a job with diagnose, and a URL that is not indexed.")
    reused: bool = Field(False, description="An earlier answer about the same page was used, free of charge.")
    age_seconds: int = Field(default_factory=int, description="Age of an answer that was used again.")


class UrlRecord(BaseModel):
    """A URL of an index job as its users see it."""

    id: UUID
    url: str
    sent_url: str | None = Field(description="What was sent, where the URL was made of it: a bare domain.")
    status: Status
    is_indexed: bool | None
    search_status: str | None = Field(description="What became of it; of a URL that was to be submitted.")
    raw_result: RawResult | None
    last_error: str | None = Field(description="Why it waits, or is asked for again; of a pending one.")
    created_at: Timestamp
    updated_at: Timestamp

    @classmethod
    def of(cls, item: Item, *, waits: str | None = None) -> Self:
        """Return the record of an item's URL; `waits` is why those wait that have not been asked about."""
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
    """Read a page of a job's URLs, in input order, and how many fit in all; of some statuses and reasons, or any.

    `waits` is why its URLs wait, where they do."""
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
    """Read the URLs that come after one in input order; -1 begins."""
    return Statement(
        f"{SELECT_ITEMS} WHERE i.job_id = %(job)s AND i.index > %(after)s ORDER BY i.index LIMIT %(limit)s",
        {"job": job_id, "after": after, "limit": limit},
        lambda rows: [Item(**row) for row in rows],
    )


def urls_to_retry(job_id: UUID, *, reason: str | None = None) -> Statement[list[str]]:
    """Read the URLs of a job with a reason, or all that have no answer."""
    # One that can't be checked is no other the next time.
    return Statement(
        SQL(
            "SELECT i.input->>'url' AS url FROM item i"
            " WHERE i.job_id = %(job)s AND i.input->>'fault' IS NULL AND CASE WHEN %(reason)s::text IS NULL"
            " THEN i.state IN ('failed', 'cancelled') ELSE {} = %(reason)s END ORDER BY i.index"
        ).format(_REASON),
        {"job": job_id, "reason": reason},
        lambda rows: [row["url"] for row in rows],
    )
