"""Account: what a key may do, and what was used."""

from datetime import datetime
from typing import Any

from pressroom.documents.document import Document


class Usage(Document):
    """What the account has used, and what it has left."""

    total_requests: int
    total_credits_used: int
    requests_this_month: int
    credits_used_this_month: int
    subscription_tier: str
    #: Without what running jobs hold.
    credits_remaining: int
    credits_held: int
    usage_by_endpoint: dict[str, int]
    credits_by_endpoint: dict[str, int]
    by_key: list[dict[str, Any]]
    by_day: list[dict[str, Any]]


class KeyVerification(Document):
    """Whether a key is valid, and whose."""

    valid: bool
    subscription_tier: str | None = None
    user_id: str | None = None
    error: str | None = None


class Key(Document):
    """An API key of the account."""

    id: str
    name: str | None = None
    #: The end of its secret.
    hint: str | None = None
    #: The secret; told once, when it is made.
    api_key: str | None = None
    requests_per_minute: int | None = None
    credits_per_month: int | None = None
    #: What it may be used for; None: everything.
    routes: list[str] | None = None
    credits_used_this_month: int | None = None
    credits_held: int | None = None
    created_at: datetime
    last_used_at: datetime | None = None
