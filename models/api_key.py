"""API key: a secret of an account, kept as its SHA-256 alone."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import Column, Index, LargeBinary, text
from sqlmodel import Field, SQLModel

from models.columns import moment


class ApiKey(SQLModel, table=True):
    """`hint` is the key's last four characters, so that its owner can tell keys apart."""

    __tablename__ = "api_key"
    __table_args__ = (
        Index("api_key_hash_key", "hash", unique=True),
        Index("api_key_account_id_idx", "account_id"),
    )

    id: UUID = Field(primary_key=True, sa_column_kwargs={"server_default": text("gen_random_uuid()")})
    account_id: UUID = Field(foreign_key="account.id")
    name: str
    hash: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    hint: str
    created_at: datetime = Field(sa_column=moment(now=True))
    last_used_at: datetime | None = Field(sa_column=moment(nullable=True))
    revoked_at: datetime | None = Field(sa_column=moment(nullable=True))
