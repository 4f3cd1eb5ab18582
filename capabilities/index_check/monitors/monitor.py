"""Monitor: an account's schedule of index checks, and the API's statements about it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.accounts.keys import Caller
from pipeline.database import SQL, Statement, assignments, page_of, read_page, row_of

Every = Literal["day", "week"]
State = Literal["active", "paused"]
STATES: tuple[State, ...] = get_args(State)
INTERVALS: Mapping[Every, timedelta] = {"day": timedelta(days=1), "week": timedelta(days=7)}


@dataclass(frozen=True, slots=True)
class Monitor:
    """A stored monitor, without its URLs. `skipped` says why the last run made no job.

    `finished_at`: when it paused by itself, as every URL was indexed."""

    id: UUID
    name: str | None
    state: State
    every: Every
    request: dict[str, Any]
    sitemap_url: str | None
    total_urls: int | None
    webhook_id: UUID | None
    webhook_url: str | None
    next_at: datetime
    last_job_id: UUID | None
    last_run_at: datetime | None
    skipped: dict[str, Any] | None
    created_at: datetime
    until_indexed: bool
    finished_at: datetime | None
    last_delivery: dict[str, Any] | None


_SELECT = SQL(
    "SELECT m.id, m.name, m.state, m.every, m.request, m.sitemap_url, m.total_urls, m.webhook_id, w.url AS webhook_url,"
    " m.next_at, m.last_job_id, m.last_run_at, m.skipped, m.created_at, m.until_indexed, m.finished_at,"
    " to_jsonb(d) AS last_delivery FROM index_monitor m LEFT JOIN webhook w ON w.id = m.webhook_id LEFT JOIN LATERAL ("
    "SELECT o.state, o.attempts, o.status, o.error, o.created_at, CASE WHEN o.state = 'pending' THEN o.next_at END"
    " AS next_at FROM webhook_delivery o WHERE o.webhook_id = m.webhook_id ORDER BY o.created_at DESC LIMIT 1) d"
    " ON true"
)
_PAGE = page_of(
    SQL(
        "{} WHERE m.account_id = %(account)s ORDER BY m.created_at DESC, m.id LIMIT %(limit)s OFFSET %(offset)s"
    ).format(_SELECT),
    total=SQL("index_monitor WHERE account_id = %(account)s"),
    order=SQL("p.created_at DESC, p.id"),
)


def add_monitor(monitor_id: UUID, caller: Caller, made: Mapping[str, Any], *, most: int) -> Statement[bool]:
    """Add a monitor that is due at once; False if the account, which is locked, has the most it may have.

    Finished ones don't count, or no more posts of a watched site would be checked after a while.
    `made` has its columns: name, every, request, urls, sitemap_url, webhook_id and until_indexed."""
    return Statement(
        "INSERT INTO index_monitor (id, account_id, api_key_id, name, every, request, urls, sitemap_url, total_urls,"
        " webhook_id, until_indexed) SELECT %(id)s, %(account)s, %(key)s, %(name)s, %(every)s, %(request)s,"
        " %(urls)s::jsonb, %(sitemap_url)s, jsonb_array_length(%(urls)s::jsonb), %(webhook_id)s::uuid,"
        " %(until_indexed)s"
        " WHERE (SELECT count(*) FROM index_monitor m WHERE m.account_id = %(account)s AND m.finished_at IS NULL)"
        " < %(most)s RETURNING id",
        {"id": monitor_id, "account": caller.account_id, "key": caller.api_key_id, "most": most, **_values(made)},
        bool,
        repeatable=False,
    )


def count_unfinished(account_id: UUID) -> Statement[int]:
    """Count the monitors of an account that count against its limit."""
    sql = "SELECT count(*) AS number FROM index_monitor WHERE account_id = %(account)s AND finished_at IS NULL"
    return Statement(sql, {"account": account_id}, lambda rows: int(rows[0]["number"]))


def find_monitor(monitor_id: UUID, account_id: UUID) -> Statement[Monitor | None]:
    return Statement(
        f"{_SELECT} WHERE m.id = %(id)s AND m.account_id = %(account)s",
        {"id": monitor_id, "account": account_id},
        row_of(Monitor),
    )


def list_monitors(account_id: UUID, *, limit: int, offset: int) -> Statement[tuple[list[Monitor], int]]:
    return Statement(_PAGE, {"account": account_id, "limit": limit, "offset": offset}, read_page(Monitor))


def change_monitor(monitor_id: UUID, account_id: UUID, changed: Mapping[str, Any]) -> Statement[bool]:
    """Change columns of a monitor; False if the account has no such one.

    With another interval it is due one interval from now at the latest. A run in progress is made anew."""
    values = {"busy_until": None, **_values(changed)}
    changes = [assignments(["busy_until", *changed])]
    if changed.get("state") == "active":
        changes.append(SQL("finished_at = NULL"))
    if "every" in changed:
        values["interval"] = INTERVALS[changed["every"]]
        changes.append(SQL("next_at = least(next_at, now() + %(interval)s)"))
    if "urls" in changed:
        changes.append(SQL("total_urls = jsonb_array_length(%(urls)s::jsonb)"))
    return Statement(
        SQL("UPDATE index_monitor SET {} WHERE id = %(id)s AND account_id = %(account)s RETURNING id").format(
            SQL(", ").join(changes)
        ),
        {**values, "id": monitor_id, "account": account_id},
        bool,
    )


def delete_monitor(monitor_id: UUID, account_id: UUID) -> Statement[bool]:
    """Delete a monitor, its changes and its webhook; False if the account has no such one. Its jobs stay."""
    return Statement(
        "WITH gone AS (DELETE FROM index_monitor WHERE id = %(id)s AND account_id = %(account)s"
        " RETURNING id, webhook_id), unhooked AS (DELETE FROM webhook w USING gone g WHERE w.id = g.webhook_id)"
        " SELECT id FROM gone",
        {"id": monitor_id, "account": account_id},
        bool,
    )


def _values(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: Jsonb(value) if isinstance(value, dict | list) else value for name, value in fields.items()}
