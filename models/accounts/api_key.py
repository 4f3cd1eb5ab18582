"""API key: a secret of an account, kept as its SHA-256 alone."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, LargeBinary, Text, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field, SQLModel

from models.columns import moment


class ApiKey(SQLModel, table=True):
    """`hint` is the key's last four characters, so that its owner can tell keys apart.

    `is_dashboard` is the one key of an account that stands for its sessions; nobody knows its secret. The limits are
    the key's own, beside those of its account; null is none.
    """

    __tablename__ = "api_key"
    __table_args__ = (
        Index("api_key_hash_key", "hash", unique=True),
        Index("api_key_account_id_idx", "account_id"),
        Index("api_key_dashboard_key", "account_id", unique=True, postgresql_where=text("is_dashboard")),
        CheckConstraint("requests_per_minute > 0", name="api_key_requests_per_minute_check"),
        CheckConstraint("credits_per_month >= 0", name="api_key_credits_per_month_check"),
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
