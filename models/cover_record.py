"""Cover record: how the pictures of an account's last posts look."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlmodel import Field, SQLModel

from models.columns import document, moment


class CoverRecord(SQLModel, table=True):
    """One account's; its posts, the last first, at most as many as capabilities/blog/kinds/cover_record_table.py keeps."""

    __tablename__ = "cover_record"

    account_id: UUID = Field(primary_key=True, foreign_key="account.id")
    posts: list[dict[str, Any]] = Field(sa_column=document(nullable=False))
    updated_at: datetime = Field(sa_column=moment(now=True))
