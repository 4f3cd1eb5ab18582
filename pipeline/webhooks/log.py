"""Log: what was sent to an account's webhooks, how it fared, and having it sent again."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from pipeline.database import SQL, Statement, page_of, read_page, row_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedDelivery:
    """An event as the log shows it. `is_busy`: a try is being made. `tries`: the last ones, with their times."""

    id: UUID
    event: str
    webhook_id: UUID | None
    url: str | None
    job_id: UUID | None
    state: str
    attempts: int
    is_busy: bool
    status: int | None
    error: str | None
    created_at: datetime
    next_at: datetime
    again_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryDetails(LoggedDelivery):
    """The same with what was sent, and each try of it."""

    body: str
    tries: list[dict[str, Any]]


_COMPUTED = {
    "event": SQL("coalesce(d.event, d.body::jsonb ->> 'type') AS event"),
    "url": SQL("coalesce(d.url, w.url) AS url"),
    "is_busy": SQL("coalesce(d.busy_until > now(), false) AS is_busy"),
    "tries": SQL("coalesce(d.tries, '[]') AS tries"),
}


def _select(shape: type[LoggedDelivery]) -> SQL:
    return SQL("SELECT {columns} FROM webhook_delivery d LEFT JOIN webhook w ON w.id = d.webhook_id").format(
        columns=SQL(", ").join(_COMPUTED.get(one.name, SQL(f"d.{one.name}")) for one in fields(shape))
    )


_PAGE = SQL("{select} WHERE {where} ORDER BY d.created_at DESC, d.id LIMIT %(limit)s OFFSET %(offset)s")
_SELECT, _SELECT_DETAILS = _select(LoggedDelivery), _select(DeliveryDetails)


def list_deliveries(
    account_id: UUID,
    *,
    state: str | None = None,
    event: str | None = None,
    job_id: UUID | None = None,
    webhook_id: UUID | None = None,
    limit: int,
    offset: int,
) -> Statement[tuple[list[LoggedDelivery], int]]:
    """Read a page of an account's deliveries, newest first, and how many there are in all."""
    wanted = {"account_id": account_id, "state": state, "event": event, "job_id": job_id, "webhook_id": webhook_id}
    filters = {name: value for name, value in wanted.items() if value is not None}
    where = SQL(" AND ").join(SQL(f"d.{name} = %({name})s") for name in filters)
    return Statement(
        page_of(
            _PAGE.format(select=_SELECT, where=where),
            total=SQL("webhook_delivery d WHERE {where}").format(where=where),
            order=SQL("p.created_at DESC, p.id"),
        ),
        {**filters, "limit": limit, "offset": offset},
        read_page(LoggedDelivery),
    )


def find_delivery(delivery_id: UUID, account_id: UUID) -> Statement[DeliveryDetails | None]:
    """Read an account's delivery."""
    return Statement(
        f"{_SELECT_DETAILS} WHERE d.id = %(id)s AND d.account_id = %(account)s",
        {"id": delivery_id, "account": account_id},
        row_of(DeliveryDetails),
    )


def send_again(delivery_id: UUID, account_id: UUID) -> Statement[bool]:
    """Have an event sent now, whatever became of it, and tried as long as a new one; false: there is no such one.

    An event that is being sent stays as it is."""
    return Statement(
        "WITH found AS (SELECT id FROM webhook_delivery WHERE id = %(id)s AND account_id = %(account)s),"
        " due AS (UPDATE webhook_delivery d SET state = 'pending', next_at = now(), again_at = now(), ended_at = NULL,"
        " attempts_before = d.attempts FROM found f"
        " WHERE d.id = f.id AND NOT (d.state = 'pending' AND coalesce(d.busy_until > now(), false)))"
        " SELECT id FROM found",
        {"id": delivery_id, "account": account_id},
        bool,
    )


def add_test(account_id: UUID, event: str, body: str, url: str, webhook_id: UUID | None = None) -> Statement[UUID]:
    """Have an event sent to an address, whatever events are wanted there; returns the delivery's id.

    Without a webhook, the account's secret signs it."""
    return Statement(
        "INSERT INTO webhook_delivery (id, account_id, webhook_id, url, event, body)"
        " VALUES (%(id)s, %(account)s, %(webhook)s, %(url)s, %(event)s, %(body)s) RETURNING id",
        {"id": uuid4(), "account": account_id, "webhook": webhook_id, "url": url, "event": event, "body": body},
        lambda rows: UUID(str(rows[0]["id"])),
        repeatable=False,
    )
