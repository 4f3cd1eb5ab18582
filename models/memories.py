"""Memories: what capabilities keep for an account, its lexicon and the looks of its covers."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlmodel import Field

from models.columns import Row, document, moment


class LexiconRow(Row, table=True):
    """One account's; `version` counts how often it was replaced (capabilities/speech/routes/lexicon.py)."""

    account_id: UUID = Field(primary_key=True, foreign_key="account.id")
    entries: list[dict[str, Any]] = Field(sa_column=document(nullable=False))
    version: int = Field(sa_column_kwargs={"server_default": text("1")})
    updated_at: datetime = Field(sa_column=moment(now=True))


class CoverRecordRow(Row, table=True):
    """The looks of an account's latest posts, the last first; the blog capability says how many."""

    account_id: UUID = Field(primary_key=True, foreign_key="account.id")
    posts: list[dict[str, Any]] = Field(sa_column=document(nullable=False))
    updated_at: datetime = Field(sa_column=moment(now=True))
