"""Offer: what an engine of some pool can do, published by the pool when it sets the engine up."""

from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlmodel import Field, SQLModel

from models.columns import document, moment


class Offer(SQLModel, table=True):
    """The API lists and validates from it; the worker has the last word."""

    family: str = Field(primary_key=True)
    engine: str = Field(primary_key=True)
    ready: bool
    needs: str | None  # what is missing, when it is not ready
    #: Where the engine stands in its pool's order of preference; the first is 0.
    place: int = Field(sa_column_kwargs={"server_default": text("0")})
    content: dict[str, Any] = Field(sa_column=document(nullable=False))  # voices, languages
    updated_at: datetime = Field(sa_column=moment(now=True))
