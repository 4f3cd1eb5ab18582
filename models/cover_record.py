"""Cover record: how the pictures of an account's last posts look."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlmodel import Field, SQLModel

from models.columns import document, moment


class CoverRecord(SQLModel, table=True):
    """The looks of an account's latest posts, the last first; the blog capability says how many."""

    __tablename__ = "cover_record"

    account_id: UUID = Field(primary_key=True, foreign_key="account.id")
    posts: list[dict[str, Any]] = Field(sa_column=document(nullable=False))
    updated_at: datetime = Field(sa_column=moment(now=True))
