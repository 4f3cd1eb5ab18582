"""Account: who pays, and the one number that is left to spend."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, Column, Index, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from models.columns import BUSY_TABLE, moment, one_of
from models.row_rules import row_rules

#: Subscription tiers, cheapest first.
TIERS = ("free", "pro", "enterprise")


class Account(SQLModel, table=True):
    """`available` excludes what open jobs hold; it is the sum of the ledger's changes and never below zero.

    `email` and `password_hash` (argon2id) are for the dashboard. Operators see and change what is of all accounts."""

    __table_args__ = (
        row_rules(
            "account",
            {"available": "bigint", "tier": "text", "email": "text"},
            "available >= 0",
            one_of("tier", TIERS),
            "email = lower(email)",
        ),
        Index("account_email_key", "email", unique=True),
        Index("account_suspended_idx", "id", postgresql_where=text("suspended_at IS NOT NULL")),
        {"postgresql_with": BUSY_TABLE},
    )

    id: UUID = Field(primary_key=True, sa_column_kwargs={"server_default": text("gen_random_uuid()")})
    name: str
    tier: str
    available: int = Field(sa_column=Column(BigInteger, nullable=False, server_default=text("0")))
    created_at: datetime = Field(sa_column=moment(now=True))
    email: str | None = None
    password_hash: str | None = None
    is_operator: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})
    suspended_at: datetime | None = Field(sa_column=moment(nullable=True))
    #: Items of its open jobs, in all and by kind. They count too many for a while, never too few: jobs that have just
    #: ended (`EndedJob`), and items that have ended in jobs that go on.
    open_items: int = Field(sa_column=Column(BigInteger, nullable=False, server_default=text("0")))
    open_by_kind: dict[str, int] = Field(
        sa_column=Column(JSONB(none_as_null=True), nullable=False, server_default=text("'{}'"))
    )
    webhook_id: UUID | None  # its own webhook, whose secret signs what is sent; no foreign key, as it names the account
