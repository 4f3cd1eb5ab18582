"""Webhooks: where accounts want to be told of events, and what is still to be told."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, String, Uuid, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from models.columns import Row, document, moment, one_of

#: States of a delivery.
DELIVERY_STATES = ("pending", "delivered", "failed")
#: The account that waits for a delivery; rows of the release before have no account.
PAYER = text("coalesce(account_id, webhook_id)")


class WebhookRow(Row, table=True):
    """An address, and the secret that signs what is sent there: of an account, or of one monitor alone.

    The account's first is `account.webhook_id`; its secret also signs what is sent to addresses that requests name."""

    __table_args__ = (Index("webhook_account_idx", "account_id"),)

    id: UUID = Field(primary_key=True)
    account_id: UUID = Field(foreign_key="account.id")
    url: str | None  # null: the account has a secret, and no address by default
    events: list[str] | None = Field(sa_column=Column(ARRAY(String)))  # null: all
    of_account: bool = Field(sa_column_kwargs={"server_default": text("false")})  # one of the account's further ones
    secret: str  # whsec_ and base64, as Standard Webhooks has it; shown once
    secret_at: datetime = Field(sa_column=moment(now=True))
    previous_secret: str | None  # signs as well until then
    previous_until: datetime | None = Field(sa_column=moment(nullable=True))
    created_at: datetime = Field(sa_column=moment(now=True))


class WebhookDeliveryRow(Row, table=True):
    """One event for one address: tried until it is taken, or for a day (pipeline/webhooks/deliveries.py).

    It is signed with the secret of its webhook; one without a webhook, with that of its account."""

    __table_args__ = (
        CheckConstraint(one_of("state", DELIVERY_STATES), name="webhook_delivery_state_check"),
        Index("webhook_delivery_due_idx", "next_at", postgresql_where=text("state = 'pending'")),
        Index("webhook_delivery_payer_idx", PAYER, "next_at", postgresql_where=text("state = 'pending'")),
        Index("webhook_delivery_busy_idx", "busy_until", postgresql_where=text("busy_until IS NOT NULL")),
        Index("webhook_delivery_webhook_idx", "webhook_id", "created_at"),
        Index("webhook_delivery_account_idx", "account_id", text("created_at DESC")),
        Index("webhook_delivery_job_idx", "job_id", postgresql_where=text("job_id IS NOT NULL")),
        Index("webhook_delivery_created_at_idx", "created_at"),
    )

    id: UUID = Field(primary_key=True)
    account_id: UUID | None
    webhook_id: UUID | None = Field(sa_column=Column(Uuid, ForeignKey("webhook.id", ondelete="CASCADE")))
    url: str | None  # null: that of the webhook
    event: str | None  # its type; rows of the release before have it in the body alone
    job_id: UUID | None  # the job that it tells of
    body: str  # JSON, to the byte as it is signed
    state: str = Field(sa_column_kwargs={"server_default": text("'pending'")})
    attempts: int = Field(sa_column_kwargs={"server_default": text("0")})
    attempts_before: int = Field(sa_column_kwargs={"server_default": text("0")})  # those before it was sent again
    tries: list[dict[str, Any]] | None = Field(sa_column=document())  # the last tries: at, status, error, seconds
    next_at: datetime = Field(sa_column=moment(now=True))  # of the next try; while one is made, when it counts as lost
    busy_until: datetime | None = Field(sa_column=moment(nullable=True))  # while a try is made: the same
    status: int | None  # the HTTP status of the last try
    error: str | None  # why the last try failed
    created_at: datetime = Field(sa_column=moment(now=True))
    again_at: datetime | None = Field(sa_column=moment(nullable=True))  # when somebody had it sent again
    ended_at: datetime | None = Field(sa_column=moment(nullable=True))
