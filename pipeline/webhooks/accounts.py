"""Webhooks of accounts: their addresses, the events that each is told of, and the secrets that sign them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from pipeline.database import SQL, Statement, nothing, row_of
from pipeline.webhooks.signing import make_secret


@dataclass(frozen=True, slots=True)
class AccountWebhook:
    """An account's own webhook. No address: only requests that name one are told of. No events: of all."""

    id: UUID
    url: str | None
    events: list[str] | None
    secret: str = field(repr=False)
    secret_at: datetime
    previous_until: datetime | None


_COLUMNS = SQL(
    "w.id, w.url, w.events, w.secret, w.secret_at,"
    " CASE WHEN w.previous_until > now() THEN w.previous_until END AS previous_until"
)
_FIND = SQL("SELECT {columns} FROM account a JOIN webhook w ON w.id = a.webhook_id WHERE a.id = %(account)s").format(
    columns=_COLUMNS
)
_SET_DEFAULT = SQL(
    "UPDATE webhook w SET url = %(url)s, events = %(events)s FROM account a"
    " WHERE a.id = %(account)s AND w.id = a.webhook_id RETURNING {columns}"
).format(columns=_COLUMNS)
_ROTATE = SQL(
    "UPDATE webhook w SET previous_secret = w.secret, previous_until = now() + %(overlap)s, secret = %(secret)s,"
    " secret_at = now() FROM account a WHERE a.id = %(account)s AND w.id = a.webhook_id AND w.secret_at < now()"
    " RETURNING {columns}"
).format(columns=_COLUMNS)


def find_webhook(account_id: UUID) -> Statement[AccountWebhook | None]:
    """Read an account's own webhook."""
    return Statement(
        _FIND,
        {"account": account_id},
        row_of(AccountWebhook),
    )


def ensure_webhook(account_id: UUID) -> Sequence[Statement[object]]:
    """Return what gives an account a webhook with a secret unless it has one, for one transaction."""
    return [
        Statement("SELECT id FROM account WHERE id = %(account)s FOR NO KEY UPDATE", {"account": account_id}),
        Statement(
            "WITH made AS (INSERT INTO webhook (id, account_id, secret) SELECT %(id)s, a.id, %(secret)s FROM account a"
            " WHERE a.id = %(account)s AND a.webhook_id IS NULL RETURNING id, account_id)"
            " UPDATE account a SET webhook_id = m.id FROM made m WHERE a.id = m.account_id RETURNING a.id",
            {"id": uuid4(), "account": account_id, "secret": make_secret()},
        ),
    ]


def set_default(account_id: UUID, url: str | None, events: Sequence[str] | None) -> Statement[AccountWebhook | None]:
    """Set an account's default address for events; None: none. Events on their way keep theirs."""
    return Statement(
        _SET_DEFAULT,
        {"account": account_id, "url": url, "events": None if events is None else list(events)},
        row_of(AccountWebhook),
    )


def rotate_secret(account_id: UUID, *, overlap: timedelta) -> Statement[AccountWebhook | None]:
    """Give an account's webhook a new secret; the one before signs as well for a while.

    One that was made in the same transaction is new already."""
    return Statement(
        _ROTATE,
        {"account": account_id, "secret": make_secret(), "overlap": overlap},
        row_of(AccountWebhook),
        repeatable=False,
    )


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """An address, and the secret that what is sent there is signed with."""

    account_id: UUID
    url: str
    id: UUID = field(default_factory=uuid4)
    secret: str = field(default_factory=make_secret, repr=False)


def add_webhook(webhook: NewWebhook) -> Statement[None]:
    """Keep a new webhook."""
    return Statement(
        "INSERT INTO webhook (id, account_id, url, secret) VALUES (%(id)s, %(account)s, %(url)s, %(secret)s)"
        " RETURNING id",
        {"id": webhook.id, "account": webhook.account_id, "url": webhook.url, "secret": webhook.secret},
        nothing,
        repeatable=False,
    )


def move_webhook(webhook_id: UUID, url: str) -> Statement[None]:
    """Give a webhook another address; its secret stays, and what is still to be sent goes to the new one."""
    return Statement(
        "UPDATE webhook SET url = %(url)s WHERE id = %(id)s RETURNING id",
        {"id": webhook_id, "url": url},
        nothing,
    )


def delete_webhook(webhook_id: UUID) -> Statement[None]:
    """Forget a webhook, and what is still to be sent to it."""
    return Statement("DELETE FROM webhook WHERE id = %(id)s RETURNING id", {"id": webhook_id}, nothing)
