"""Usage: what an account has used, counted from its ledger alone, which outlives its jobs."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from pipeline.database import SQL, Row, Statement
from pipeline.usage.usage_days import used_sql

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
