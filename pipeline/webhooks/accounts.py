"""Webhooks of accounts: their addresses, the events that each is told of, and the secrets that sign them.

An account has a default webhook, whose secret also signs what is sent to addresses that requests name, and may have
further ones."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from pipeline.database import SQL, Statement, nothing, row_of, rows_of
from pipeline.webhooks.events import make_secret


@dataclass(frozen=True, slots=True)
class AccountWebhook:
    """A webhook of an account. The default may have no address. No events: all."""

    id: UUID
    account_id: UUID
    url: str | None
    events: list[str] | None
    secret: str = field(repr=False)
    secret_at: datetime
    previous_until: datetime | None
    is_default: bool


_COLUMNS = SQL(
    "w.id, w.account_id, w.url, w.events, w.secret, w.secret_at,"
    " CASE WHEN w.previous_until > now() THEN w.previous_until END AS previous_until,"
    " w.id IS NOT DISTINCT FROM a.webhook_id AS is_default"
)
#: The one of an account with an id, else its default.
_ONE = SQL(
    "a.id = %(account)s AND w.account_id = a.id AND (w.of_account OR w.id = a.webhook_id)"
    " AND w.id = coalesce(%(webhook)s::uuid, a.webhook_id)"
)
_FIND = SQL("SELECT {columns} FROM account a, webhook w WHERE {one}").format(columns=_COLUMNS, one=_ONE)
_LIST = SQL(
    "SELECT {columns} FROM account a JOIN webhook w ON w.account_id = a.id AND (w.of_account OR w.id = a.webhook_id)"
    " WHERE a.id = ANY(%(accounts)s) AND w.url IS NOT NULL ORDER BY w.created_at, w.id"
    # A webhook can't be deleted while an event for it is added.
    " FOR KEY SHARE OF w"
).format(columns=_COLUMNS)
_CHANGE = SQL(
    "UPDATE webhook w SET url = %(url)s, events = %(events)s FROM account a WHERE {one} RETURNING {columns}"
).format(columns=_COLUMNS, one=_ONE)
_ROTATE = SQL(
    "UPDATE webhook w SET previous_secret = w.secret, previous_until = now() + %(overlap)s, secret = %(secret)s,"
    " secret_at = now() FROM account a WHERE {one} AND w.secret_at < now() RETURNING {columns}"
).format(columns=_COLUMNS, one=_ONE)


def find_webhook(account_id: UUID, webhook_id: UUID | None = None) -> Statement[AccountWebhook | None]:
    """Read an account's webhook, by default its default."""
    return Statement(_FIND, {"account": account_id, "webhook": webhook_id}, row_of(AccountWebhook))


def list_webhooks(*account_ids: UUID) -> Statement[list[AccountWebhook]]:
    """Read the webhooks of accounts that have an address, oldest first."""
    return Statement(_LIST, {"accounts": list(account_ids)}, rows_of(AccountWebhook))


def ensure_webhook(account_id: UUID) -> Sequence[Statement[Any]]:
    """Return the statements that give an account a webhook with a secret unless it has one."""
    return [
        _lock(account_id),
        Statement(
            "WITH made AS (INSERT INTO webhook (id, account_id, secret) SELECT %(id)s, a.id, %(secret)s FROM account a"
            " WHERE a.id = %(account)s AND a.webhook_id IS NULL RETURNING id, account_id)"
            " UPDATE account a SET webhook_id = m.id FROM made m WHERE a.id = m.account_id RETURNING a.id",
            {"id": uuid4(), "account": account_id, "secret": make_secret()},
        ),
    ]


def _lock(account_id: UUID) -> Statement[None]:
    return Statement(
        "SELECT id FROM account WHERE id = %(account)s FOR NO KEY UPDATE", {"account": account_id}, nothing
    )


def change_webhook(
    account_id: UUID, url: str | None, events: Sequence[str] | None, webhook_id: UUID | None = None
) -> Statement[AccountWebhook | None]:
    """Set the address and events of an account's webhook, by default its default. Events on their way keep theirs."""
    return Statement(
        _CHANGE,
        {
            "account": account_id,
            "webhook": webhook_id,
            "url": url,
            "events": None if events is None else list(events),
        },
        row_of(AccountWebhook),
    )


def rotate_secret(
    account_id: UUID, webhook_id: UUID | None = None, *, overlap: timedelta
) -> Statement[AccountWebhook | None]:
    """Give an account's webhook, by default its default, a new secret; the one before signs as well for a while.

    A secret made in the same transaction is new already."""
    return Statement(
        _ROTATE,
        {"account": account_id, "webhook": webhook_id, "secret": make_secret(), "overlap": overlap},
        row_of(AccountWebhook),
        repeatable=False,
    )


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """An address, and the secret that what is sent there is signed with."""

    account_id: UUID
    url: str
    #: Events that it is told; None: all.
    events: Sequence[str] | None = None
    id: UUID = field(default_factory=uuid4)
    secret: str = field(default_factory=make_secret, repr=False)


def add_webhook(webhook: NewWebhook) -> Statement[None]:
    """Keep a new webhook of a monitor."""
    return Statement(
        "INSERT INTO webhook (id, account_id, url, secret) VALUES (%(id)s, %(account)s, %(url)s, %(secret)s)"
        " RETURNING id",
        {"id": webhook.id, "account": webhook.account_id, "url": webhook.url, "secret": webhook.secret},
        nothing,
        repeatable=False,
    )


def add_to_webhooks(webhook: NewWebhook, *, most: int) -> Sequence[Statement[Any]]:
    """Return statements for one transaction that add a webhook to an account; the last returns whether there was room.

    An account has at most so many beside its default."""
    return [
        _lock(webhook.account_id),
        Statement(
            "INSERT INTO webhook (id, account_id, url, events, secret, of_account)"
            " SELECT %(id)s, %(account)s, %(url)s, %(events)s, %(secret)s, true FROM account a WHERE a.id = %(account)s"
            " AND %(most)s > (SELECT count(*) FROM webhook w WHERE w.account_id = a.id AND w.of_account) RETURNING id",
            {
                "id": webhook.id,
                "account": webhook.account_id,
                "url": webhook.url,
                "events": None if webhook.events is None else list(webhook.events),
                "secret": webhook.secret,
                "most": most,
            },
            bool,
            repeatable=False,
        ),
    ]


def move_webhook(webhook_id: UUID, url: str) -> Statement[None]:
    """Give a webhook another address; its secret stays, and pending events go to the new one."""
    return Statement(
        "UPDATE webhook SET url = %(url)s WHERE id = %(id)s RETURNING id", {"id": webhook_id, "url": url}, nothing
    )


def delete_webhook(webhook_id: UUID) -> Statement[None]:
    """Forget a webhook, and its pending events."""
    return Statement("DELETE FROM webhook WHERE id = %(id)s RETURNING id", {"id": webhook_id}, nothing)
