"""Lexicon: the words that an account wants said in another way."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlmodel import Field, SQLModel

from models.columns import document, moment


class Lexicon(SQLModel, table=True):
    """One account's; `version` counts how often it was replaced (capabilities/speech/routes/lexicon.py)."""

    account_id: UUID = Field(primary_key=True, foreign_key="account.id")
    entries: list[dict[str, Any]] = Field(sa_column=document(nullable=False))
    version: int = Field(sa_column_kwargs={"server_default": text("1")})
    updated_at: datetime = Field(sa_column=moment(now=True))
