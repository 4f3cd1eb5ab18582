"""Verdict: what a search provider last said of a page; a cache, so that the same page is not asked for again."""

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Index, LargeBinary
from sqlmodel import Field, SQLModel

from models.columns import document, moment


class Verdict(SQLModel, table=True):
    """An answer about one page, whoever asked for it."""

    __table_args__ = (Index("verdict_checked_at_idx", "checked_at"),)

    page: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))  # SHA-256 of the match key
    provider: str = Field(primary_key=True)
    output: dict[str, Any] = Field(sa_column=document(nullable=False))
    checked_at: datetime = Field(sa_column=moment(now=True))
