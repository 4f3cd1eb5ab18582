"""Webhooks: where an account is told of events, and what was told."""

from datetime import datetime

from pressroom.documents.document import Document


class Webhook(Document):
    """Where an account is told of events that no request says otherwise of."""

    webhook_url: str | None = None
    webhook_events: list[str]
    #: What events are signed with; told once, when it is made.
    webhook_secret: str | None = None
    secret_set_at: datetime | None = None
    #: Until then the secret before signs as well.
    previous_secret_until: datetime | None = None


class WebhookSecret(Document):
    """A new secret."""

    webhook_secret: str
    previous_secret_until: datetime | None = None


class WebhookDelivery(Document):
    """An event, and how it fared."""

    id: str
    #: Its header webhook-id, the same in each try.
    message_id: str
    event: str
    url: str | None = None
    job_id: str | None = None
    #: pending, delivered or failed.
    state: str
    attempts: int
    is_sending: bool
    #: HTTP status of the last try.
    status: int | None = None
    error: str | None = None
    created_at: datetime
    #: When it is tried again.
    next_at: datetime | None = None
    #: When somebody had it sent again.
    sent_again_at: datetime | None = None
    ended_at: datetime | None = None
