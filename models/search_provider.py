"""Search provider: when one may be asked again, as all processes that ask it know it."""

from datetime import datetime

from sqlalchemy import text
from sqlmodel import Field, SQLModel

from models.columns import moment


class SearchProvider(SQLModel, table=True):
    """One search engine with one key: its pace, and its breaker."""

    __tablename__ = "search_provider"

    name: str = Field(primary_key=True)  # the provider's, and a hash of its address and key
    next_at: datetime = Field(sa_column=moment(now=True))  # earliest time of the next query
    busy_until: datetime | None = Field(sa_column=moment(nullable=True))  # a query is on its way; forgotten after that
    open_until: datetime | None = Field(sa_column=moment(nullable=True))  # the breaker is open; then probes go
    step: int = Field(sa_column_kwargs={"server_default": text("0")})  # of the ladder; 0: the breaker is closed
    #: Good answers since it was last open; below 0: rounds in a row that blocked us, and no good answer since.
    probes: int = Field(sa_column_kwargs={"server_default": text("0")})
    off_until: datetime | None = Field(sa_column=moment(nullable=True))  # not asked at all, for `reason`
    reason: str | None  # why it is open or off
