"""Operations: the offers of pools, samples of queues, and what operators have paused."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Column, Float, text
from sqlmodel import Field

from models.columns import Row, document, moment, one_of


class OfferRow(Row, table=True):
    """The API lists and validates from it; the worker has the last word."""

    family: str = Field(primary_key=True)
    engine: str = Field(primary_key=True)
    ready: bool
    needs: str | None  # what is missing, when it is not ready
    #: Where the engine stands in its pool's order of preference; the first is 0.
    place: int = Field(sa_column_kwargs={"server_default": text("0")})
    content: dict[str, Any] = Field(sa_column=document(nullable=False))  # voices, languages
    updated_at: datetime = Field(sa_column=moment(now=True))


class QueueSampleRow(Row, table=True):
    """One row a queue and minute. Counts are sums since Redis last had none; null: Redis was away."""

    at: datetime = Field(sa_column=Column(moment().type, primary_key=True))  # a full minute
    queue: str = Field(primary_key=True)
    ready: int
    waiting: int
    leased: int
    oldest_seconds: float = Field(sa_column=Column(Float, nullable=False))  # age of the oldest that is ready
    done: int | None = Field(sa_column=Column(BigInteger))
    failed: int | None = Field(sa_column=Column(BigInteger))
    runs: int | None = Field(sa_column=Column(BigInteger))  # all that workers were done with, also what is tried again
    wait_seconds: float | None = Field(sa_column=Column(Float))  # of all runs together
    run_seconds: float | None = Field(sa_column=Column(Float))


#: What can be paused. A provider is a search provider or an endpoint.
PAUSE_SCOPES = ("queue", "kind", "provider", "account")


class PauseRow(Row, table=True):
    """Nothing of it is claimed, or asked, until the row is deleted. Its items stay as they are."""

    __table_args__ = (CheckConstraint(one_of("scope", PAUSE_SCOPES), name="pause_scope_check"),)

    scope: str = Field(primary_key=True)
    name: str = Field(primary_key=True)  # an account's is its id
    paused_at: datetime = Field(sa_column=moment(now=True))
    reason: str | None  # as the operator gave it
