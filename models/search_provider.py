"""Search provider: when each may be asked again, the same for all processes."""

from datetime import datetime

from sqlalchemy import text
from sqlmodel import Field, SQLModel

from models.columns import moment


class SearchProvider(SQLModel, table=True):
    """One search engine with one key: its pace, and its circuit breaker."""

    __tablename__ = "search_provider"

    name: str = Field(primary_key=True)  # the provider's, and a hash of its address and key
    next_at: datetime = Field(sa_column=moment(now=True))  # earliest time of the next query
    busy_until: datetime | None = Field(sa_column=moment(nullable=True))  # a query is on its way; lost after that
    #: Of the breaker (pipeline/kinds/index_check/circuit_breaker.py). That a rest is over is seen from `open_until`.
    state: str = Field(sa_column_kwargs={"server_default": text("'closed'")})
    open_until: datetime | None = Field(sa_column=moment(nullable=True))  # end of the rest, or of the last one
    off_until: datetime | None = Field(sa_column=moment(nullable=True))  # the same while no URL waits for it
    reason: str | None  # why it rests
    step: int = Field(sa_column_kwargs={"server_default": text("0")})  # the rest's place in the ladder; 0: none
    blocked_rounds: int = Field(sa_column_kwargs={"server_default": text("0")})  # in a row
    brief_limits: int = Field(sa_column_kwargs={"server_default": text("0")})  # in a row, of an API
    probes: int = Field(sa_column_kwargs={"server_default": text("0")})  # of the release before; not used
