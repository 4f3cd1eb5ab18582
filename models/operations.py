"""Operations: the offers of pools, samples of queues, and what operators have added or paused."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Column, Float, LargeBinary, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field

from models.columns import Row, document, moment, one_of


class OfferRow(Row, table=True):
    """The API lists and validates from it; the worker has the last word."""

    family: str = Field(primary_key=True)
    engine: str = Field(primary_key=True)
    ready: bool
    needs: str | None  # what is missing, when it is not ready
    #: The engine's place in its pool's order of preference; the first is 0.
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


class EndpointRow(Row, table=True):
    """A server that an operator has added in the dashboard, beside those of the file and the environment."""

    name: str = Field(primary_key=True)
    settings: dict[str, Any] = Field(sa_column=document(nullable=False))  # all but the key
    sealed_key: bytes | None = Field(sa_column=Column(LargeBinary))  # pipeline/accounts/secret_box.py
    updated_at: datetime = Field(sa_column=moment(now=True))  # pools try the server anew when it changes


class MassChangeRow(Row, table=True):
    """All jobs of a filter that are cancelled or retried; the sweep goes through them, and this is how far it is."""

    id: UUID = Field(primary_key=True, sa_column_kwargs={"server_default": text("gen_random_uuid()")})
    action: str
    filter: dict[str, Any] = Field(sa_column=document(nullable=False))
    next_id: UUID  # jobs are looked at in order of their ids: those after it ...
    last_id: UUID  # ... up to this one
    looked_at: int = Field(sa_column=Column(BigInteger, nullable=False, server_default=text("0")))
    changed: int = Field(sa_column=Column(BigInteger, nullable=False, server_default=text("0")))
    refused: dict[str, int] = Field(
        sa_column=Column(JSONB(none_as_null=True), nullable=False, server_default=text("'{}'"))
    )  # how many, by reason
    requested_at: datetime = Field(sa_column=moment(now=True))
    taken_until: datetime | None = Field(sa_column=moment(nullable=True))  # a sweep has it
    finished_at: datetime | None = Field(sa_column=moment(nullable=True))


#: Scopes of a pause. A provider is a search provider or an endpoint.
PAUSE_SCOPES = ("queue", "kind", "provider", "account")


class PauseRow(Row, table=True):
    """Nothing of it is claimed, or asked, until the row is deleted. Its items stay as they are."""

    __table_args__ = (CheckConstraint(one_of("scope", PAUSE_SCOPES), name="pause_scope_check"),)

    scope: str = Field(primary_key=True)
    name: str = Field(primary_key=True)  # an account's is its id
    paused_at: datetime = Field(sa_column=moment(now=True))
    reason: str | None  # as the operator gave it
