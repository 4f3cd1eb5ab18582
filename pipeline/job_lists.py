"""Job lists: jobs by what is known of them, newest first, a page at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pipeline.database import Row, Statement
from pipeline.job_search import SEARCHED, search_parameters
from pipeline.jobs import SELECT_JOBS, Job

#: The conditions that a filter stands for, by the name of its field.
_CONDITIONS = {
    "account_id": "j.account_id = %(account_id)s",
    "kinds": "j.kind = ANY(%(kinds)s)",
    "states": "j.state = ANY(%(states)s)",
    # As in pipeline.keys.Caller.may_use.
    "routes": "EXISTS (SELECT FROM unnest(%(routes)s::text[]) r WHERE j.route = r OR starts_with(j.route, r || '/{'))",
    "request_id": "j.request_id = %(request_id)s",
    "id_prefix": "j.id BETWEEN %(first_id)s AND %(last_id)s",
    "since": "j.created_at >= %(since)s",
    "until": "j.created_at < %(until)s",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which jobs: what is None does not matter. Of an account, or of all of them.

    `routes` are those that a key may use. `id_prefix` is the beginning of an id, with or without dashes; `since` and
    `until` are of its submission, the latter exclusive; `text` is somewhere in its request, whatever the case
    (pipeline/job_search.py says how far it is looked for)."""

    account_id: UUID | None = None
    kinds: Sequence[str] | None = None
    states: Sequence[str] | None = None
    routes: Sequence[str] | None = None
    request_id: str | None = None
    id_prefix: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str | None = None

    def conditions(self) -> str:
        """Return them in SQL, but for the text, of a table of jobs that is called j."""
        return " AND ".join(sql for name, sql in _CONDITIONS.items() if getattr(self, name) is not None) or "true"

    def parameters(self) -> dict[str, Any]:
        """Return the values that the conditions name."""
        digits = (self.id_prefix or "").replace("-", "")
        return {
            "account_id": self.account_id,
            "kinds": list(self.kinds or ()),
            "states": list(self.states or ()),
            "routes": list(self.routes or ()),
            "request_id": self.request_id,
            "first_id": UUID(digits.ljust(32, "0")),
            "last_id": UUID(digits.ljust(32, "f")),
            "since": self.since,
            "until": self.until,
        }


@dataclass(frozen=True, slots=True)
class Page:
    """Some jobs of a list, and how many the whole list has.

    `searched_since` is set where a text was not looked for in all jobs: those made before it were left out."""

    jobs: list[Job]
    total: int
    searched_since: datetime | None = None


def list_jobs(wanted: JobFilter, *, limit: int = 20, offset: int = 0) -> Statement[Page]:
    """Read a page of jobs, newest first."""
    where = wanted.conditions()
    searched, since, found = "", "NULL::timestamptz", where
    if wanted.text is not None:
        searched = SEARCHED.format(where=where)
        since, found = "(SELECT since FROM reach)", "j.id IN (SELECT id FROM found)"
    return Statement(
        f"{searched} SELECT p.*, c.* FROM (SELECT count(*) AS total, {since} AS searched_since"  # noqa: S608
        f" FROM job j WHERE {found}) c"
        f" LEFT JOIN ({SELECT_JOBS} WHERE {found} ORDER BY j.created_at DESC, j.id LIMIT %(limit)s OFFSET %(offset)s)"
        " p ON true ORDER BY p.created_at DESC, p.id",
        {**wanted.parameters(), **search_parameters(wanted.text or ""), "limit": limit, "offset": offset},
        _page,
    )


def _page(rows: list[Row]) -> Page:
    totals = [(row.pop("total"), row.pop("searched_since")) for row in rows]
    return Page([Job(**row) for row in rows if row["id"] is not None], *totals[0])
