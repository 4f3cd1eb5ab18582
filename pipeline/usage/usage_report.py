"""Usage: what an account has used, counted from its ledger alone, which outlives its jobs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from pipeline.database import SQL, Row, Statement, rows_of
from pipeline.timestamps import Timestamp
from pipeline.usage.usage_days import used_sql

By = Literal["day", "route", "key"]
Entry = Literal["grant", "hold", "raise", "capture", "release"]
#: The groupings of a report, and their columns.
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
    """Usage on one day, at one route, by one key: requests when they were made, credits when captured."""

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
    """Read an account's usage in a span."""
    return Statement(_USED, {"account": account_id, "first": span.first, "last": span.last}, rows_of(Used))


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


class LedgerEntry(BaseModel):
    """An entry of the ledger."""

    id: int
    created_at: Timestamp
    entry: Entry
    credits: int = Field(description="Change of the balance.")
    held: int = Field(description="Change of the credits held for open jobs.")
    route: str | None
    key_id: UUID | None
    key_name: str | None
    job_id: UUID | None
    note: str | None


def read_ledger(
    account_id: UUID, span: DaySpan | None = None, *, before: int | None = None, limit: int
) -> Statement[list[LedgerEntry]]:
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
        rows_of(LedgerEntry),
    )


#: Days that `by_day` shows, today among them.
DAYS = 30

_USAGE = SQL("""
SELECT a.tier, a.available, (now() AT TIME ZONE 'UTC')::date AS today, e.route, e.api_key_id, k.name AS key_name,
       e.day, e.requests, e.credits, e.held
FROM account a LEFT JOIN ({used}) e ON true LEFT JOIN api_key k ON k.id = e.api_key_id
WHERE a.id = %(account)s
""").format(used=used_sql())


def read_usage(account_id: UUID) -> Statement[dict[str, Any]]:
    """Read an account's usage as GET /usage shows it."""
    return Statement(_USAGE, {"account": account_id}, _usage)


def _usage(rows: list[Row]) -> dict[str, Any]:
    today: date = rows[0]["today"]
    used = [row for row in rows if row["day"] is not None]
    month = [row for row in used if row["day"] >= today.replace(day=1)]
    routes = sorted({row["route"] for row in used})
    return {
        "total_requests": _sum(used, "requests"),
        "total_credits_used": _sum(used, "credits"),
        "requests_this_month": _sum(month, "requests"),
        "credits_used_this_month": _sum(month, "credits"),
        "subscription_tier": rows[0]["tier"],
        "credits_remaining": rows[0]["available"],
        "credits_held": _sum(used, "held"),
        "usage_by_endpoint": {route: _sum(_of(used, "route", route), "requests") for route in routes},
        "credits_by_endpoint": {route: _sum(_of(used, "route", route), "credits") for route in routes},
        "by_key": _by_key(used),
        "by_day": _by_day(used, today),
    }


def _by_key(used: list[Row]) -> list[dict[str, Any]]:
    names = {row["api_key_id"]: row["key_name"] for row in used}
    return [
        {"key_id": str(key_id), "name": name, **_totals(_of(used, "api_key_id", key_id))}
        for key_id, name in sorted(names.items(), key=lambda key: str(key[1]))
    ]


def _by_day(used: list[Row], today: date) -> list[dict[str, Any]]:
    days = [today - timedelta(days=ago) for ago in reversed(range(DAYS))]
    return [{"date": day.isoformat(), **_totals(_of(used, "day", day))} for day in days]


def _totals(rows: list[Row]) -> dict[str, int]:
    return {"requests": _sum(rows, "requests"), "credits": _sum(rows, "credits")}


def _of(rows: list[Row], column: str, value: object) -> list[Row]:
    return [row for row in rows if row[column] == value]


def _sum(rows: Iterable[Row], column: str) -> int:
    return sum(row[column] for row in rows)
