"""Index check: its tables, and the indexes that it has on the tables of jobs and items."""

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Index, LargeBinary, text
from sqlmodel import Field, SQLModel

from models.columns import document, moment
from models.jobs.item import Item
from models.jobs.job import Job

_items = SQLModel.metadata.tables[str(Item.__tablename__)]
_jobs = SQLModel.metadata.tables[str(Job.__tablename__)]

#: What a list of index jobs reads: else all that the account has asked for. Other kinds of jobs never enter it.
JOB_INDEX = Index(
    "job_index_kinds_idx",
    _jobs.c.account_id,
    text("created_at DESC"),
    postgresql_where=text("kind IN ('index_check', 'index_submit')"),
)

#: What index jobs count (capabilities/index_check/results/jobs.py): else a list of a hundred reads a million URLs.
ITEM_INDEXES = (
    Index("item_indexed_idx", _items.c.job_id, postgresql_where=text("output->>'reason' = 'indexed'")),
    Index(
        "item_rate_limited_idx",
        _items.c.job_id,
        postgresql_where=text("state = 'failed' AND error->>'reason' = 'rate_limited'"),
    ),
)


class SearchProvider(SQLModel, table=True):
    """One search engine with one key: its pace and its circuit breaker, the same for all processes."""

    __tablename__ = "search_provider"

    name: str = Field(primary_key=True)  # the provider's, and a hash of its address and key
    next_at: datetime = Field(sa_column=moment(now=True))  # earliest time of the next query
    busy_until: datetime | None = Field(sa_column=moment(nullable=True))  # a query is on its way; lost after that
    #: The circuit breaker's (capabilities/index_check/providers). A rest is over when `open_until` has passed.
    state: str = Field(sa_column_kwargs={"server_default": text("'closed'")})
    open_until: datetime | None = Field(sa_column=moment(nullable=True))  # end of the rest, or of the last one
    off_until: datetime | None = Field(sa_column=moment(nullable=True))  # the same while no URL waits for it
    reason: str | None  # why it rests
    step: int = Field(sa_column_kwargs={"server_default": text("0")})  # the rest's place in the ladder; 0: none
    blocked_rounds: int = Field(sa_column_kwargs={"server_default": text("0")})  # of the release before; not used
    brief_limits: int = Field(sa_column_kwargs={"server_default": text("0")})  # in a row, of an API
    evasions: int = Field(sa_column_kwargs={"server_default": text("0")})  # in a row
    #: What makes its empty pages believed (capabilities/index_check/handlers/proofs.py).
    proven_at: datetime | None = Field(sa_column=moment(nullable=True))  # it last showed rows of the site asked for
    blocked_at: datetime | None = Field(sa_column=moment(nullable=True))  # it last blocked us, or evaded an answer
    answered_at: datetime | None = Field(sa_column=moment(nullable=True))  # it last gave an answer that counts
    control_at: datetime | None = Field(sa_column=moment(nullable=True))  # it was last asked for the control site
    shown_by: dict[str, Any] | None = Field(sa_column=document())  # engine behind it: when it last showed a row
    probes: int = Field(sa_column_kwargs={"server_default": text("0")})  # of an earlier release; not used


class Verdict(SQLModel, table=True):
    """What a search provider last said of a page, whoever asked: a cache."""

    __table_args__ = (Index("verdict_checked_at_idx", "checked_at"),)

    page: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))  # SHA-256 of the match key
    provider: str = Field(primary_key=True)
    output: dict[str, Any] = Field(sa_column=document(nullable=False))
    checked_at: datetime = Field(sa_column=moment(now=True))
