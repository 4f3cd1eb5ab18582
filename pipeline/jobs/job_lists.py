"""Job lists: jobs by what is known of them, newest first, a page at a time.

A list looks at the newest jobs that an index finds, some thousands at most, and says how far it came: with a million
jobs of an account, counting all of them took 100 ms and a page in their middle 1,700 ms."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pipeline.database import SQL, Row, Statement, nothing
from pipeline.lifecycle.jobs import Job, select_page

_AND, _ALL = SQL(" AND "), SQL("true")
#: Jobs that one list looks at.
MOST_LISTED = 10_000
#: Conditions that an index serves, by the name of their field: they say which jobs are looked at.
_LOOKED_AT = {
    "account_id": SQL("j.account_id = %(account_id)s"),
    "request_id": SQL("j.request_id = %(request_id)s"),
    "id_prefix": SQL("j.id BETWEEN %(first_id)s AND %(last_id)s"),
    "since": SQL("j.created_at >= %(since)s"),
    "until": SQL("j.created_at < %(until)s"),
}
#: The other conditions: they choose among those.
_WANTED = {
    "kinds": SQL("j.kind = ANY(%(kinds)s)"),
    "states": SQL("j.state = ANY(%(states)s)"),
    # As in pipeline.accounts.keys.Caller.may_use.
    "routes": SQL(
        "EXISTS (SELECT FROM unnest(%(routes)s::text[]) r WHERE j.route = r OR starts_with(j.route, r || '/{'))"
    ),
}
#: States of which there are few, with the conditions of their partial indexes (models/jobs.py).
_FEW = {
    frozenset({"queued", "running"}): SQL("j.finished_at IS NULL"),
    frozenset({"partial", "failed", "cancelled", "expired"}): SQL(
        "j.finished_at IS NOT NULL AND (j.items_failed > 0 OR j.error IS NOT NULL)"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """A choice of the jobs of an account, or of all; a field that is None does not filter.

    `routes` are those that a key may use. `id_prefix` is the beginning of an id, with or without dashes; `since` and
    `until` are of its submission, the latter exclusive; `text` is somewhere in its request, whatever the case
    (pipeline/jobs/job_lists.py says how far it is looked for)."""

    account_id: UUID | None = None
    kinds: Sequence[str] | None = None
    states: Sequence[str] | None = None
    routes: Sequence[str] | None = None
    request_id: str | None = None
    id_prefix: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str | None = None

    def looked_at(self) -> SQL:
        """Return in SQL which jobs are looked at, of a table of jobs that is called j."""
        few = [sql for states, sql in _FEW.items() if self.states and states.issuperset(self.states)]
        return _AND.join(self._given(_LOOKED_AT) + few) or _ALL

    def wanted(self) -> SQL:
        """Return in SQL which of those are wanted, but for the text."""
        return _AND.join(self._given(_WANTED)) or _ALL

    def _given(self, conditions: Mapping[str, SQL]) -> list[SQL]:
        return [sql for name, sql in conditions.items() if getattr(self, name) is not None]

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
class JobPage:
    """Some jobs of a list, and how many the whole list has.

    `searched_since` is set where not all jobs were looked at: those made before it were left out, and not counted."""

    jobs: list[Job]
    total: int
    searched_since: datetime | None = None


# Jobs made at the same moment are looked at together, so that the next list goes on where this one ended.
_LOOKED = SQL("""
WITH span AS MATERIALIZED (
    SELECT count(*) FILTER (WHERE {wanted}) AS total,
           CASE WHEN count(*) >= %(most_listed)s THEN min(j.created_at) END AS since
    FROM (SELECT j.* FROM job j WHERE {looked_at}
          ORDER BY j.created_at DESC FETCH FIRST %(most_listed)s ROWS WITH TIES) j
)
""")
_IN_SPAN = SQL("j.created_at >= coalesce((SELECT since FROM span), '-infinity')")
_PAGE = SQL("{looked} SELECT p.*, c.* FROM ({counted}) c LEFT JOIN ({page}) p ON true ORDER BY p.created_at DESC, p.id")


def list_jobs(wanted: JobFilter, *, limit: int = 20, offset: int = 0) -> Statement[JobPage]:
    looked = _LOOKED.format(looked_at=wanted.looked_at(), wanted=wanted.wanted())
    where = _AND.join([wanted.looked_at(), wanted.wanted(), _IN_SPAN])
    if wanted.text is None:
        found, counted = where, SQL("SELECT total, since AS searched_since FROM span")
    else:
        looked = SQL().join([looked, searched(where)])
        found = SQL("j.id IN (SELECT id FROM found)")
        counted = SQL("SELECT (SELECT count(*) FROM found) AS total, (SELECT since FROM reach) AS searched_since")
    return Statement(
        _PAGE.format(looked=looked, counted=counted, page=select_page(found)),
        {
            **wanted.parameters(),
            **search_parameters(wanted.text or ""),
            "most_listed": MOST_LISTED,
            "limit": limit,
            "offset": offset,
        },
        _page,
    )


def _page(rows: list[Row]) -> JobPage:
    totals = [(row.pop("total"), row.pop("searched_since")) for row in rows]
    return JobPage([Job(**row) for row in rows if row["id"] is not None], *totals[0])


#: Jobs, items and bytes (as stored, often compressed) that one search reads at most: a quarter of a second, most often.
MOST_JOBS = 2_000
MOST_ITEMS = 10_000
MOST_BYTES = 8 * 2**20
#: Longest time of a search: what is compressed well takes longer than its bytes say.
MOST_SECONDS = 5.0

_ESCAPES = str.maketrans({"\\": r"\\", "%": r"\%", "_": r"\_"})


def _holds(document: SQL) -> SQL:
    """Return the condition that a text of a JSON document holds the wanted one.

    The first line is fast and takes names of fields, too; the second reads what the first has found."""
    return SQL(
        "({document}::text ILIKE ANY(%(in_json)s) AND EXISTS (SELECT FROM jsonb_path_query({document}, '$.**') v"
        " WHERE jsonb_typeof(v) = 'string' AND v #>> '{{}}' ILIKE ANY(%(in_text)s)))"
    ).format(document=document)


_SEARCHED = SQL("""
, newest AS MATERIALIZED (
    SELECT j.id, j.created_at, j.request, j.items_total FROM job j
    WHERE {where} AND j.purged_at IS NULL AND j.deleted_at IS NULL
    ORDER BY j.created_at DESC, j.id LIMIT %(most_jobs)s
), looked AS MATERIALIZED (
    SELECT n.*, row_number() OVER newest_first AS place, sum(n.items_total) OVER newest_first - n.items_total AS before
    FROM newest n WINDOW newest_first AS (ORDER BY n.created_at DESC, n.id)
), texts AS MATERIALIZED (
    SELECT l.id, l.created_at, i.input,
           sum(pg_column_size(i.input)) OVER (ORDER BY l.place, i.index) - pg_column_size(i.input) AS bytes_before
    FROM looked l JOIN item i ON i.job_id = l.id WHERE l.before < %(most_items)s
), found AS MATERIALIZED (
    SELECT l.id FROM looked l WHERE {request_holds}
    UNION SELECT t.id FROM texts t WHERE t.bytes_before < %(most_bytes)s AND {input_holds}
), limited AS (
    SELECT min(t.created_at) FILTER (WHERE t.bytes_before < %(most_bytes)s) AS since FROM texts t
    HAVING (SELECT count(*) FROM newest) = %(most_jobs)s OR max(t.bytes_before) >= %(most_bytes)s
        OR EXISTS (SELECT FROM looked l WHERE l.before >= %(most_items)s)
), reach AS (
    SELECT coalesce((SELECT l.since FROM limited l), s.since) AS since FROM span s
)
""")
_REQUEST_HOLDS, _INPUT_HOLDS = _holds(SQL("l.request")), _holds(SQL("t.input"))


def searched(where: SQL) -> SQL:
    """Return the part of a list's statement that searches.

    `where` chooses among the jobs that the list looks at (`span`, in pipeline/jobs/job_lists.py). `found` are the jobs;
    `reach` says when the oldest job that was looked at was made, null where all were."""
    return _SEARCHED.format(where=where, request_holds=_REQUEST_HOLDS, input_holds=_INPUT_HOLDS)


def within_seconds(seconds: float) -> Statement[None]:
    """Return a statement that limits the time of those after it in the transaction."""
    return Statement(
        "SELECT set_config('statement_timeout', %(milliseconds)s, true)",
        {"milliseconds": f"{seconds * 1_000:.0f}"},
        nothing,
    )


def search_parameters(text: str) -> dict[str, Any]:
    """Return the parameters of a search. Under the locale C only ASCII letters have two cases, so that the usual
    spellings of others are given."""
    spellings = sorted({text, text.lower(), text.upper(), text.title(), text.capitalize()})
    return {
        "in_text": [f"%{spelling.translate(_ESCAPES)}%" for spelling in spellings],
        "in_json": [f"%{json.dumps(one, ensure_ascii=False)[1:-1].translate(_ESCAPES)}%" for one in spellings],
        "most_jobs": MOST_JOBS,
        "most_items": MOST_ITEMS,
        "most_bytes": MOST_BYTES,
    }
