"""Notices: what people want to be told by e-mail, and the mails on their way."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import CheckConstraint, Column, ForeignKey, ForeignKeyConstraint, Index, Uuid, text
from sqlmodel import Field

from models.columns import Row, moment, one_of

#: When a notice is sent.
HOW = ("at once", "daily")
#: States of a mail.
MAIL_STATES = ("pending", "sent", "failed")


class NoticeChoiceRow(Row, table=True):
    """An event that a person wants to be told of, in one account; it goes with their membership."""

    __table_args__ = (
        ForeignKeyConstraint(
            ["account_id", "person_id"], ["membership.account_id", "membership.person_id"], ondelete="CASCADE"
        ),
        CheckConstraint(one_of("how", HOW), name="notice_choice_how_check"),
        Index("notice_choice_due_idx", "next_at"),
        Index("notice_choice_token_key", "token", unique=True),
    )

    account_id: UUID = Field(primary_key=True)
    person_id: UUID = Field(primary_key=True)
    event: str = Field(primary_key=True)
    how: str
    token: UUID = Field(sa_column_kwargs={"server_default": text("gen_random_uuid()")})  # ends it without a sign-in
    told_until: datetime = Field(sa_column=moment(now=True))
    next_at: datetime = Field(sa_column=moment(now=True))


class MailRow(Row, table=True):
    """A mail: tried until the server takes it, or for a day."""

    __table_args__ = (
        CheckConstraint(one_of("state", MAIL_STATES), name="mail_state_check"),
        Index("mail_due_idx", "next_at", postgresql_where=text("state = 'pending'")),
        Index("mail_person_idx", "person_id", text("created_at DESC")),
        Index("mail_created_at_idx", "created_at"),
    )

    id: UUID = Field(primary_key=True)
    person_id: UUID = Field(sa_column=Column(Uuid, ForeignKey("person.id", ondelete="CASCADE"), nullable=False))
    account_id: UUID
    subject: str
    body: str
    token: UUID | None  # of the choice that it comes from
    state: str = Field(sa_column_kwargs={"server_default": text("'pending'")})
    attempts: int = Field(sa_column_kwargs={"server_default": text("0")})
    next_at: datetime = Field(sa_column=moment(now=True))  # while a try is made: when it counts as lost
    error: str | None
    created_at: datetime = Field(sa_column=moment(now=True))
    ended_at: datetime | None = Field(sa_column=moment(nullable=True))
