"""Account: its keys, its usage and its webhooks."""

from datetime import datetime
from typing import Any

from pressroom.documents import Document


class Usage(Document):
    """Requests and credits that the account has used, and credits it has left."""

    total_requests: int
    total_credits_used: int
    requests_this_month: int
    credits_used_this_month: int
    subscription_tier: str
    credits_remaining: int  #: without `credits_held`, which running jobs hold
    credits_held: int
    usage_by_endpoint: dict[str, int]
    credits_by_endpoint: dict[str, int]
    by_key: list[dict[str, Any]]
    by_day: list[dict[str, Any]]


class KeyVerification(Document):
    """A key's validity, and its account."""

    valid: bool
    subscription_tier: str | None = None
    user_id: str | None = None
    routes: list[str] | None = None  #: those of a key that is limited to some
    error: str | None = None


class Key(Document):
    """An API key of the account."""

    id: str
    name: str | None = None
    hint: str | None = None  #: the end of its secret
    api_key: str | None = None  #: the secret, shown once, when the key is made
    requests_per_minute: int | None = None
    credits_per_month: int | None = None
    routes: list[str] | None = None  #: routes that it may use; None: all
    priority: str = "normal"  #: of its requests that name none
    credits_used_this_month: int | None = None
    credits_held: int | None = None
    made_by: str | None = None  #: e-mail or name of the person who made it
    ends_with_person: bool = False  #: revoked when they leave the account
    created_at: datetime
    last_used_at: datetime | None = None


class Webhook(Document):
    """The account's default webhook: where the service reports its events."""

    webhook_url: str | None = None
    webhook_events: list[str]
    webhook_secret: str | None = None  #: signs the events; shown once, when it is made
    secret_set_at: datetime | None = None
    previous_secret_until: datetime | None = None  #: until then the previous secret signs as well


class AccountWebhook(Webhook):
    """One of the account's webhooks."""

    id: str
    is_default: bool  #: whether `set_webhook` sets it


class WebhookSecret(Document):
    """A new secret."""

    webhook_secret: str
    previous_secret_until: datetime | None = None


class WebhookDelivery(Document):
    """An event, and the tries to deliver it."""

    id: str
    message_id: str  #: the header webhook-id, the same in each try
    event: str
    webhook_id: str | None = None  #: None: a request named the address
    url: str | None = None
    job_id: str | None = None
    state: str  #: pending, delivered or failed
    attempts: int
    is_sending: bool
    status: int | None = None  #: HTTP status of the last try
    error: str | None = None
    created_at: datetime
    next_at: datetime | None = None  #: the next try
    sent_again_at: datetime | None = None  #: when a person last had it sent again
    ended_at: datetime | None = None
