"""Usage report: what an account has used in a span of days, by day, route or key; and the lines of its ledger."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from pipeline.database import SQL, Row, Statement
from pipeline.usage.usage_days import used_sql

By = Literal["day", "route", "key"]
#: What a report may be told apart by, and the columns that say it.
COLUMNS: Mapping[By, tuple[str, ...]] = {"day": ("date",), "route": ("route",), "key": ("key_id", "name")}


@dataclass(frozen=True, slots=True)
class DaySpan:
    """Days of UTC, the first and the last included."""

    first: date
    last: date

    @property
    def days(self) -> list[date]:
        """Return each day."""
        return [self.first + timedelta(days=number) for number in range((self.last - self.first).days + 1)]


@dataclass(frozen=True, slots=True)
class Used:
    """What was used on one day, at one route, by one key: requests when they were made, credits when captured."""

    date: date
    route: str
    key_id: UUID
    name: str | None
    requests: int
    credits: int


_IN_SPAN = SQL("AND u.day BETWEEN %(first)s::date AND %(last)s::date")
_LINES_IN_SPAN = SQL("""AND e.created_at >= %(first)s::date::timestamp AT TIME ZONE 'UTC'
    AND e.created_at < (%(last)s::date + 1)::timestamp AT TIME ZONE 'UTC'""")
_USED = SQL("""
SELECT u.day AS date, u.route, u.api_key_id AS key_id, k.name, sum(u.requests)::bigint AS requests,
       sum(u.credits)::bigint AS credits
FROM ({used}) u LEFT JOIN api_key k ON k.id = u.api_key_id
GROUP BY 1, 2, 3, 4
""").format(used=used_sql(days=_IN_SPAN, lines=_LINES_IN_SPAN))


def read_used(account_id: UUID, span: DaySpan) -> Statement[list[Used]]:
    """Read what an account has used in a span."""
    return Statement(
        _USED,
        {"account": account_id, "first": span.first, "last": span.last},
        lambda rows: [Used(**row) for row in rows],
    )


def summed(used: list[Used], span: DaySpan, by: By) -> list[dict[str, Any]]:
    """Return the sums of a report: each day, also one without any; routes and keys, the dearest first."""
    sums: dict[tuple[Any, ...], list[int]] = {(day,): [0, 0] for day in span.days} if by == "day" else {}
    for one in used:
        place = sums.setdefault(tuple(getattr(one, column) for column in COLUMNS[by]), [0, 0])
        place[0] += one.requests
        place[1] += one.credits
    rows = [
        {**dict(zip(COLUMNS[by], key, strict=True)), "requests": requests, "credits": credited}
        for key, (requests, credited) in sums.items()
    ]
    return rows if by == "day" else sorted(rows, key=lambda row: (-row["credits"], -row["requests"]))


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """A line of the ledger. `credits` changes the balance, `held` what is set aside for open jobs."""

    id: int
    created_at: datetime
    entry: str
    credits: int
    held: int
    route: str | None
    key_id: UUID | None
    key_name: str | None
    job_id: UUID | None
    note: str | None


def read_ledger(
    account_id: UUID, span: DaySpan | None = None, *, before: int | None = None, limit: int
) -> Statement[list[LedgerLine]]:
    """Read lines of an account's ledger, newest first; `before` is the id of the last line of the page before."""
    return Statement(
        "SELECT e.id, e.created_at, e.entry, e.available_change AS credits, e.held_change AS held, e.route,"
        " e.api_key_id AS key_id, k.name AS key_name, e.job_id, e.note"
        " FROM credit_entry e LEFT JOIN api_key k ON k.id = e.api_key_id WHERE e.account_id = %(account)s"
        " AND (%(first)s::date IS NULL OR e.created_at >= %(first)s::date::timestamp AT TIME ZONE 'UTC')"
        " AND (%(last)s::date IS NULL OR e.created_at < (%(last)s::date + 1)::timestamp AT TIME ZONE 'UTC')"
        " AND (%(before)s::bigint IS NULL OR (e.created_at, e.id) < (SELECT b.created_at, b.id FROM credit_entry b"
        " WHERE b.id = %(before)s AND b.account_id = %(account)s))"
        " ORDER BY e.created_at DESC, e.id DESC LIMIT %(limit)s",
        {
            "account": account_id,
            "first": span and span.first,
            "last": span and span.last,
            "before": before,
            "limit": limit,
        },
        _lines,
    )


def _lines(rows: list[Row]) -> list[LedgerLine]:
    return [LedgerLine(**row) for row in rows]
