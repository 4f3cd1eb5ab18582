"""Documents of webhooks: what is sent to set one, and how one and its deliveries are shown."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field, WithJsonSchema

from api.work.webhook_fields import ADDRESS
from pipeline.kind import Request
from pipeline.timestamps import Timestamp
from pipeline.webhooks.accounts import AccountWebhook
from pipeline.webhooks.events import EVENTS
from pipeline.webhooks.log import DeliveryDetails, LoggedDelivery
from pipeline.webhooks.signing import message_id_of

State = Literal["pending", "delivered", "failed"]
#: One that is wrong is refused by name (api/work/webhook_fields.py).
Event = Annotated[str, WithJsonSchema({"type": "string", "enum": list(EVENTS)})]


class WebhookRequest(Request):
    """Where an account is told of events that no request says otherwise of."""

    cleared: ClassVar[frozenset[str]] = frozenset({"webhook_url"})

    webhook_url: str | None = Field(json_schema_extra=ADDRESS, description="A public address; null: none.")
    webhook_events: list[Event] | None = Field(None, description=f"Of {', '.join(EVENTS)}; null: all.")


class WebhookTestRequest(Request):
    """Where the test is sent."""

    webhook_url: str | None = Field(None, json_schema_extra=ADDRESS, description="By default the account's.")


class WebhookSettingsDocument(BaseModel):
    """Where an account is told of events, and how old its secret is."""

    webhook_url: str | None
    webhook_events: list[str]
    secret_set_at: Timestamp | None = Field(description="null: there is none yet.")
    previous_secret_until: Timestamp | None = Field(description="Until then the secret before signs as well.")

    @classmethod
    def of(cls, webhook: AccountWebhook | None) -> Self:
        """Return an account's webhook; None: it has never had one."""
        if webhook is None:
            return cls(webhook_url=None, webhook_events=list(EVENTS), secret_set_at=None, previous_secret_until=None)
        return cls(
            webhook_url=webhook.url,
            webhook_events=list(EVENTS) if webhook.events is None else webhook.events,
            secret_set_at=webhook.secret_at,
            previous_secret_until=webhook.previous_until,
        )


class WebhookSettingsCreated(WebhookSettingsDocument):
    """The same, with a secret that has just been made."""

    webhook_secret: str | None = Field(None, description="What events are signed with. It is shown this once.")


class WebhookSecret(BaseModel):
    """A new secret."""

    webhook_secret: str = Field(description="What events are signed with. It is shown this once.")
    previous_secret_until: Timestamp | None


class WebhookDelivery(BaseModel):
    """An event, and how it fared."""

    id: UUID
    message_id: str = Field(description="Its header webhook-id, the same in each try.")
    event: str
    url: str | None
    job_id: UUID | None
    state: State
    attempts: int
    is_sending: bool = Field(description="Whether a try is being made.")
    status: int | None = Field(description="HTTP status of the last try.")
    error: str | None
    created_at: Timestamp
    next_at: Timestamp | None = Field(description="When it is tried again.")
    sent_again_at: Timestamp | None = Field(description="When somebody had it sent again.")
    ended_at: Timestamp | None

    @classmethod
    def of(cls, delivery: LoggedDelivery) -> Self:
        """Return a delivery for its account."""
        return cls.model_validate(
            {
                **asdict(delivery),
                "message_id": message_id_of(delivery.id),
                "is_sending": delivery.is_busy,
                "sent_again_at": delivery.again_at,
                "next_at": delivery.next_at if delivery.state == "pending" and not delivery.is_busy else None,
                **cls._more(delivery),
            }
        )

    @classmethod
    def _more(cls, delivery: LoggedDelivery) -> dict[str, Any]:
        return {}


class WebhookTry(BaseModel):
    """One try to send an event."""

    at: Timestamp
    status: int | None
    error: str | None
    seconds: float | None = Field(description="How long it took.")


class WebhookDeliveryDetails(WebhookDelivery):
    """An event with what was sent, and its last tries."""

    body: dict[str, Any]
    tries: list[WebhookTry]

    @classmethod
    def _more(cls, delivery: LoggedDelivery) -> dict[str, Any]:
        if not isinstance(delivery, DeliveryDetails):
            return {}
        tries = [{**one, "at": datetime.fromisoformat(one["at"])} for one in delivery.tries]
        return {"body": json.loads(delivery.body), "tries": tries}
