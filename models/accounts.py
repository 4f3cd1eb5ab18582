"""Accounts: who pays, with which keys, and who is signed in at the dashboard."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Column, ForeignKey, Index, Integer, LargeBinary, Text, Uuid, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlmodel import Field

from models.columns import BUSY_TABLE, Row, moment, one_of, row_rules

#: Subscription tiers, cheapest first.
TIERS = ("free", "pro", "enterprise")
#: Priorities of an account's jobs among each other, the lowest first.
PRIORITIES = ("low", "normal", "high")


class AccountRow(Row, table=True):
    """`available` excludes what open jobs hold; it is the sum of the ledger's changes and never below zero.

    Owners of an account with `is_operator` see and change what is of all accounts. `email` and `password_hash` are
    empty: they are people's since migration 0040, and read only by the release before it."""

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
        Index("account_low_balance_idx", "id", postgresql_where=text("low_balance IS NOT NULL")),
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
    #: ended (`EndedJobRow`), and items that have ended in jobs that go on.
    open_items: int = Field(sa_column=Column(BigInteger, nullable=False, server_default=text("0")))
    open_by_kind: dict[str, int] = Field(
        sa_column=Column(JSONB(none_as_null=True), nullable=False, server_default=text("'{}'"))
    )
    needs_second_factor: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})
    low_balance: int | None = Field(sa_column=Column(BigInteger))  # its people are told when `available` is below
    low_since: datetime | None = Field(sa_column=moment(nullable=True))
    webhook_id: UUID | None  # its own webhook, whose secret signs what is sent; no foreign key, as it names the account


class ApiKeyRow(Row, table=True):
    """`hint` is the key's last four characters, so that its owner can tell keys apart.

    `is_dashboard` is the one key of an account that stands for its sessions; nobody knows its secret. The limits are
    the key's own, beside those of its account; null is none. `person_id` made it; with `ends_with_person` it is revoked
    when they leave.
    """

    __table_args__ = (
        Index("api_key_hash_key", "hash", unique=True),
        Index("api_key_account_id_idx", "account_id"),
        Index("api_key_dashboard_key", "account_id", unique=True, postgresql_where=text("is_dashboard")),
        CheckConstraint("requests_per_minute > 0", name="api_key_requests_per_minute_check"),
        CheckConstraint("credits_per_month >= 0", name="api_key_credits_per_month_check"),
        CheckConstraint(one_of("priority", PRIORITIES), name="api_key_priority_check"),
    )

    id: UUID = Field(primary_key=True, sa_column_kwargs={"server_default": text("gen_random_uuid()")})
    account_id: UUID = Field(foreign_key="account.id")
    name: str
    hash: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    hint: str
    created_at: datetime = Field(sa_column=moment(now=True))
    last_used_at: datetime | None = Field(sa_column=moment(nullable=True))
    revoked_at: datetime | None = Field(sa_column=moment(nullable=True))
    is_dashboard: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})
    requests_per_minute: int | None
    credits_per_month: int | None = Field(sa_column=Column(BigInteger))  # captured in a month of UTC, and held
    routes: list[str] | None = Field(sa_column=Column(ARRAY(Text)))  # paths that it may be used for
    priority: str = Field(sa_column_kwargs={"server_default": text("'normal'")})  # of requests that name none
    person_id: UUID | None  # no foreign key: the ledger names keys whose maker has gone
    ends_with_person: bool = Field(default=False, sa_column_kwargs={"server_default": text("false")})


class SessionRow(Row, table=True):
    """A browser that a person has signed in with, in an account; it ends at `expires_at`, or when it is not used.

    Only the release before migration 0040 leaves the person out, whose sessions then are nobody's."""

    __table_args__ = (
        Index("session_account_idx", "account_id"),
        Index("session_expires_at_idx", "expires_at"),
        Index("session_person_idx", "person_id"),
    )

    token_hash: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    account_id: UUID = Field(foreign_key="account.id")
    created_at: datetime = Field(sa_column=moment(now=True))
    last_seen_at: datetime = Field(sa_column=moment(now=True))
    expires_at: datetime = Field(sa_column=moment())
    person_id: UUID | None = Field(sa_column=Column(Uuid, ForeignKey("person.id", ondelete="CASCADE")))
    proven_at: datetime = Field(sa_column=moment(now=True))  # when the person last proved who they are
    browser: str | None  # "Firefox on Linux"
    address: str | None


class SignInLinkRow(Row, table=True):
    """A link that signs a person in once; its row is deleted when it is used."""

    __table_args__ = (Index("sign_in_link_account_idx", "account_id"), Index("sign_in_link_person_idx", "person_id"))

    token_hash: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))
    account_id: UUID = Field(foreign_key="account.id")
    created_at: datetime = Field(sa_column=moment(now=True))
    expires_at: datetime = Field(sa_column=moment())
    person_id: UUID | None = Field(sa_column=Column(Uuid, ForeignKey("person.id", ondelete="CASCADE")))


class SigningKeyRow(Row, table=True):
    """The newest signs, the others still verify; a link whose key is deleted is dead."""

    id: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    secret: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    created_at: datetime = Field(sa_column=moment(now=True))


class MarkIdentityRow(Row, table=True):
    """The certificates and the key that sign files and receipts, in PEM; the newest signs."""

    id: int = Field(sa_column=Column(Integer, primary_key=True, autoincrement=False))
    certificates: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    key: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    created_at: datetime = Field(sa_column=moment(now=True))
