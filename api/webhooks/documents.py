"""Webhook documents: the requests that set a webhook, and the answers that show it and its deliveries."""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field, WithJsonSchema

from api.work.common_fields import ADDRESS
from pipeline.kind import Request
from pipeline.timestamps import Timestamp
from pipeline.webhooks.accounts import AccountWebhook
from pipeline.webhooks.events import EVENTS
from pipeline.webhooks.log import DeliveryDetails, LoggedDelivery
from pipeline.webhooks.signing import message_id_of

State = Literal["pending", "delivered", "failed"]
#: A wrong one is refused by name (api/work/common_fields.py).
Event = Annotated[str, WithJsonSchema({"type": "string", "enum": list(EVENTS)})]


class WebhookRequest(Request):
    """The account's default webhook, for requests that name none."""

    cleared: ClassVar[frozenset[str]] = frozenset({"webhook_url"})

    webhook_url: str | None = Field(json_schema_extra=ADDRESS, description="A public address; null for none.")
    webhook_events: list[Event] | None = Field(None, description=f"Some of {', '.join(EVENTS)}; null for all.")


class AddedWebhookRequest(Request):
    """One of several webhooks of the account."""

    webhook_url: str = Field(json_schema_extra=ADDRESS, description="A public address.")
    webhook_events: list[Event] | None = Field(None, description=f"Some of {', '.join(EVENTS)}; null for all.")


class WebhookTestRequest(Request):
    """The address to test."""

    webhook_url: str | None = Field(None, json_schema_extra=ADDRESS, description="Default: the account's.")


class WebhookSettingsDocument(BaseModel):
    """The account's default webhook, and the age of its secret."""

    webhook_url: str | None
    webhook_events: list[str]
    secret_set_at: Timestamp | None = Field(description="null if there is none yet.")
    previous_secret_until: Timestamp | None = Field(description="The previous secret signs as well until then.")

    @classmethod
    def of(cls, webhook: AccountWebhook | None, **more: Any) -> Self:
        """Return the document of an account's webhook, or of an account without one."""
        if webhook is None:
            none: dict[str, Any] = dict.fromkeys(("webhook_url", "secret_set_at", "previous_secret_until"))
            return cls(webhook_events=list(EVENTS), **none, **more)
        return cls(
            webhook_url=webhook.url,
            webhook_events=list(EVENTS) if webhook.events is None else webhook.events,
            secret_set_at=webhook.secret_at,
            previous_secret_until=webhook.previous_until,
            **more,
        )


class AccountWebhookDocument(WebhookSettingsDocument):
    """One of the account's webhooks."""

    id: UUID
    is_default: bool = Field(description="True if it is the one that PUT /webhooks sets.")

    @classmethod
    def of_one(cls, webhook: AccountWebhook) -> Self:
        """Return the document of a webhook."""
        return cls.of(webhook, id=webhook.id, is_default=webhook.is_default)


class AccountWebhookCreated(AccountWebhookDocument):
    """The same with its secret."""

    webhook_secret: str = Field(description="The secret that signs its events, shown only once.")


class WebhookSettingsList(WebhookSettingsDocument):
    """The same, and all of the account's webhooks."""

    webhooks: list[AccountWebhookDocument] = Field(description="All that have an address, oldest first.")


class WebhookSettingsCreated(WebhookSettingsDocument):
    """The same, with the secret if it was just created."""

    webhook_secret: str | None = Field(None, description="The secret that signs events, shown only once.")


class WebhookSecret(BaseModel):
    """A new secret."""

    webhook_secret: str = Field(description="The secret that signs events, shown only once.")
    previous_secret_until: Timestamp | None


class WebhookDelivery(BaseModel):
    """An event and the state of its delivery."""

    id: UUID
    message_id: str = Field(description="The header webhook-id, the same in each attempt.")
    event: str
    webhook_id: UUID | None = Field(description="null if a request named the address.")
    url: str | None
    job_id: UUID | None
    state: State
    attempts: int
    is_sending: bool = Field(description="True while an attempt is under way.")
    status: int | None = Field(description="HTTP status of the last attempt.")
    error: str | None
    created_at: Timestamp
    next_at: Timestamp | None = Field(description="Time of the next attempt.")
    sent_again_at: Timestamp | None = Field(description="When it was last sent again by request.")
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
    """One attempt to send an event."""

    at: Timestamp
    status: int | None
    error: str | None
    seconds: float | None = Field(description="Duration.")


class WebhookDeliveryDetails(WebhookDelivery):
    """An event with its body and its last attempts."""

    body: dict[str, Any]
    tries: list[WebhookTry]

    @classmethod
    def _more(cls, delivery: LoggedDelivery) -> dict[str, Any]:
        if not isinstance(delivery, DeliveryDetails):
            return {}
        tries = [{**one, "at": datetime.fromisoformat(one["at"])} for one in delivery.tries]
        return {"body": json.loads(delivery.body), "tries": tries}
