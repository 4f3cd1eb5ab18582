"""Addresses: where an account wants to be told of events. The one place that writes the table of webhooks."""

from dataclasses import dataclass, field
from uuid import UUID, uuid4

from pipeline.database import Statement
from pipeline.webhooks.signing import make_secret


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
        lambda rows: None,
        repeatable=False,
    )


def move_webhook(webhook_id: UUID, url: str) -> Statement[None]:
    """Give a webhook another address; its secret stays, and what is still to be sent goes to the new one."""
    return Statement(
        "UPDATE webhook SET url = %(url)s WHERE id = %(id)s RETURNING id",
        {"id": webhook_id, "url": url},
        lambda rows: None,
    )


def delete_webhook(webhook_id: UUID) -> Statement[None]:
    """Forget a webhook, and what is still to be sent to it."""
    return Statement("DELETE FROM webhook WHERE id = %(id)s RETURNING id", {"id": webhook_id}, lambda rows: None)
