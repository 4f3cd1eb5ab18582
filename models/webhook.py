"""Webhooks: where accounts want to be told of events, and what is still to be told."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Uuid, text
from sqlmodel import Field, SQLModel

from models.columns import moment, one_of

#: What may become of a delivery.
DELIVERY_STATES = ("pending", "delivered", "failed")


class Webhook(SQLModel, table=True):
    """An address of an account, and the secret that what is sent there is signed with."""

    id: UUID = Field(primary_key=True)
    account_id: UUID = Field(foreign_key="account.id")
    url: str
    secret: str  # whsec_ and base64, as Standard Webhooks has it; shown once
    created_at: datetime = Field(sa_column=moment(now=True))


class WebhookDelivery(SQLModel, table=True):
    """One event for one webhook: tried until it is taken, or for a day (pipeline/webhooks/deliveries.py)."""

    __tablename__ = "webhook_delivery"
    __table_args__ = (
        CheckConstraint(one_of("state", DELIVERY_STATES), name="webhook_delivery_state_check"),
        Index("webhook_delivery_due_idx", "next_at", postgresql_where=text("state = 'pending'")),
        Index("webhook_delivery_webhook_idx", "webhook_id", "created_at"),
        Index("webhook_delivery_created_at_idx", "created_at"),
    )

    id: UUID = Field(primary_key=True)
    webhook_id: UUID = Field(sa_column=Column(Uuid, ForeignKey("webhook.id", ondelete="CASCADE"), nullable=False))
    body: str  # JSON, to the byte as it is signed
    state: str = Field(sa_column_kwargs={"server_default": text("'pending'")})
    attempts: int = Field(sa_column_kwargs={"server_default": text("0")})
    next_at: datetime = Field(sa_column=moment(now=True))  # of the next try; while one is made, when it counts as lost
    status: int | None  # the HTTP status of the last try
    error: str | None  # why the last try failed
    created_at: datetime = Field(sa_column=moment(now=True))
    ended_at: datetime | None = Field(sa_column=moment(nullable=True))
