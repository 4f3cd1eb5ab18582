"""Changes: differences between two answers of the same index about the same URL.

Errors and blocks are no answers. Another index's answer is no change either: the next provider may answer for once, and
Bing may lack what Google has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field

from pipeline.database import SQL, Database, Statement, columns, page_of, read_page, row_of, rows_of
from pipeline.timestamps import Timestamp
from pipeline.webhooks.deliveries import add_delivery, add_to_account
from pipeline.webhooks.events import MONITOR_CHANGED, event_body

ChangeKind = Literal["newly_indexed", "dropped"]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
#: Most changes in an event; the monitor's list has all of them.
MAX_IN_EVENT = 1_000


class IndexMonitorChange(BaseModel):
    """A URL whose answer differs from the same index's last one."""

    id: Annotated[str, BeforeValidator(str)]
    job_id: UUID
    url: str
    change: ChangeKind
    index: str
    provider: str
    proof_url: str | None
    checked_at: Timestamp
    before_at: Timestamp = Field(description="Time of the answer before.")


_COLUMNS = columns(IndexMonitorChange.model_fields)


@dataclass(frozen=True, slots=True)
class EndedRun:
    """A monitor whose job has ended."""

    id: UUID
    account_id: UUID
    name: str | None
    job_id: UUID
    webhook_id: UUID | None
    now: datetime


def settle_ended(database: Database) -> int:
    """Compare the answers of monitors' ended jobs, one monitor a transaction; returns how many."""
    return sum(1 for _ in iter(lambda: _settle_one(database), False))


def _settle_one(database: Database) -> bool:
    with database.transaction() as transaction:
        ended = transaction.run(_lock_ended())
        if ended is None:
            return False
        changes = transaction.run(_keep_answers(ended))
        if changes:
            event = _event(ended, changes)
            if ended.webhook_id is None:
                transaction.run(add_to_account(ended.account_id, MONITOR_CHANGED, event))
            else:
                transaction.run(add_delivery(ended.webhook_id, event))
    return True


def _lock_ended() -> Statement[EndedRun | None]:
    return Statement(
        "SELECT m.id, m.account_id, m.name, m.open_job_id AS job_id, m.webhook_id, now() AS now FROM index_monitor m"
        " LEFT JOIN job j ON j.id = m.open_job_id"
        " WHERE m.open_job_id IS NOT NULL AND (j.id IS NULL OR j.finished_at IS NOT NULL)"
        " LIMIT 1 FOR NO KEY UPDATE OF m SKIP LOCKED",
        {},
        row_of(EndedRun),
    )


def _keep_answers(ended: EndedRun) -> Statement[list[IndexMonitorChange]]:
    """Compare a job's answers with the last ones, keep both, and close the job; returns the changes.

    A URL's first answer is not a change."""
    return Statement(
        SQL(
            "WITH answer AS (SELECT DISTINCT ON (page, index) * FROM (SELECT"
            " i.input->>'url' AS url, sha256(convert_to(i.input->>'url', 'UTF8')) AS page,"
            " coalesce(nullif(i.output->>'index', ''), i.output->>'provider', '') AS index,"
            " coalesce(i.output->>'provider', '') AS provider, i.output->>'reason' = 'indexed' AS is_indexed,"
            " i.output->>'proofUrl' AS proof_url, i.updated_at AS checked_at, i.index AS place"
            " FROM item i WHERE i.job_id = %(job)s AND i.state = 'done'"
            " AND i.output->>'reason' IN ('indexed', 'not_indexed')) a ORDER BY page, index, place),"
            # All parts of a statement see the pages as they were before.
            " changed AS (INSERT INTO index_monitor_change"
            " (monitor_id, job_id, url, change, index, provider, proof_url, checked_at, before_at)"
            " SELECT %(monitor)s, %(job)s, a.url, CASE WHEN a.is_indexed THEN 'newly_indexed' ELSE 'dropped' END,"
            " a.index, a.provider, CASE WHEN a.is_indexed THEN a.proof_url END, a.checked_at, p.checked_at"
            " FROM answer a"
            " JOIN index_monitor_page p ON p.monitor_id = %(monitor)s AND p.page = a.page AND p.index = a.index"
            " WHERE p.is_indexed <> a.is_indexed ORDER BY a.place"
            " RETURNING {}),"
            " kept AS (INSERT INTO index_monitor_page AS p (monitor_id, page, index, is_indexed, checked_at)"
            " SELECT %(monitor)s, a.page, a.index, a.is_indexed, a.checked_at FROM answer a"
            " ON CONFLICT (monitor_id, page, index)"
            " DO UPDATE SET is_indexed = excluded.is_indexed, checked_at = excluded.checked_at),"
            # A URL without an answer is not known to be indexed; a job whose items are gone says nothing.
            " ended AS (SELECT bool_and(i.state = 'done' AND i.output->>'reason' = 'indexed') AS is_all"
            " FROM item i WHERE i.job_id = %(job)s),"
            " closed AS (UPDATE index_monitor m SET open_job_id = NULL,"
            " (state, finished_at) = (SELECT CASE WHEN e.stops THEN 'paused' ELSE m.state END,"
            " CASE WHEN e.stops THEN now() ELSE m.finished_at END FROM"
            " (SELECT coalesce(is_all AND m.until_indexed AND m.state = 'active', false) AS stops FROM ended) e)"
            " WHERE id = %(monitor)s)"
            " SELECT * FROM changed ORDER BY id"
        ).format(_COLUMNS),
        {"monitor": ended.id, "job": ended.job_id},
        rows_of(IndexMonitorChange),
    )


def _event(ended: EndedRun, changes: Sequence[IndexMonitorChange]) -> str:
    listed = [change.model_dump(mode="json", exclude={"id", "job_id"}) for change in changes[:MAX_IN_EVENT]]
    data: dict[str, Any] = {
        "monitor_id": str(ended.id),
        "monitor_name": ended.name,
        "job_id": str(ended.job_id),
        **{kind: sum(change.change == kind for change in changes) for kind in CHANGE_KINDS},
        "changes": listed,
        "all_listed": len(listed) == len(changes),
    }
    return event_body(MONITOR_CHANGED, data, ended.now)


def list_changes(
    monitor_id: UUID, *, change: str | None, limit: int, offset: int
) -> Statement[tuple[list[IndexMonitorChange], int]]:
    found = SQL("index_monitor_change WHERE monitor_id = %(monitor)s AND {}").format(
        SQL("change = %(change)s" if change else "true")
    )
    return Statement(
        page_of(
            SQL("SELECT {} FROM {} ORDER BY id DESC LIMIT %(limit)s OFFSET %(offset)s").format(_COLUMNS, found),
            total=found,
            order=SQL("p.id DESC"),
        ),
        {"monitor": monitor_id, "change": change, "limit": limit, "offset": offset},
        read_page(IndexMonitorChange),
    )
