"""Index check: its tables, and the indexes that it has on the tables of jobs and items."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlmodel import Field

import models.jobs  # noqa: F401  its tables get indexes here
from models.columns import Row, document, moment, one_of

_items, _jobs = (Row.metadata.tables[name] for name in ("item", "job"))

#: For lists of index jobs, which else read all of an account's jobs. Other kinds never enter it.
JOB_INDEX = Index(
    "job_index_kinds_idx",
    _jobs.c.account_id,
    text("created_at DESC"),
    postgresql_where=text("kind IN ('index_check', 'index_submit')"),
)

#: For the counts of index jobs (capabilities/index_check/results/jobs.py): a list of a hundred may have a million URLs.
ITEM_INDEXES = (
    Index("item_indexed_idx", _items.c.job_id, postgresql_where=text("output->>'reason' = 'indexed'")),
    Index(
        "item_rate_limited_idx",
        _items.c.job_id,
        postgresql_where=text("state = 'failed' AND error->>'reason' = 'rate_limited'"),
    ),
)


class SearchProviderRow(Row, table=True):
    """One search engine with one key: its pace and its circuit breaker, the same for all processes."""

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
    #: Evidence that its empty pages are real (capabilities/index_check/handlers/asking.py).
    proven_at: datetime | None = Field(sa_column=moment(nullable=True))  # it last showed rows of the site asked for
    blocked_at: datetime | None = Field(sa_column=moment(nullable=True))  # it last blocked us, or evaded an answer
    answered_at: datetime | None = Field(sa_column=moment(nullable=True))  # it last gave an answer that counts
    control_at: datetime | None = Field(sa_column=moment(nullable=True))  # it was last asked for the control site
    shown_by: dict[str, Any] | None = Field(sa_column=document())  # engine behind it: when it last showed a row
    probes: int = Field(sa_column_kwargs={"server_default": text("0")})  # of an earlier release; not used


class VerdictRow(Row, table=True):
    """A search provider's last answer about a page, for all accounts: a cache."""

    __table_args__ = (Index("verdict_checked_at_idx", "checked_at"),)

    page: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))  # SHA-256 of the match key
    provider: str = Field(primary_key=True)
    output: dict[str, Any] = Field(sa_column=document(nullable=False))
    checked_at: datetime = Field(sa_column=moment(now=True))


#: Intervals and states of a monitor, and its changes.
INTERVALS = ("day", "week")
MONITOR_STATES = ("active", "paused")
CHANGES = ("newly_indexed", "dropped")


def _of_monitor(**options: Any) -> Column[Any]:
    return Column(Uuid, ForeignKey("index_monitor.id", ondelete="CASCADE"), nullable=False, **options)


class IndexMonitorRow(Row, table=True):
    """A schedule that makes index jobs. It is no work itself: jobs and items carry that."""

    __table_args__ = (
        CheckConstraint(one_of("every", INTERVALS), name="index_monitor_every_check"),
        CheckConstraint(one_of("state", MONITOR_STATES), name="index_monitor_state_check"),
        Index("index_monitor_account_idx", "account_id", "created_at"),
        Index("index_monitor_due_idx", "next_at", postgresql_where=text("state = 'active'")),
        Index("index_monitor_open_idx", "open_job_id", postgresql_where=text("open_job_id IS NOT NULL")),
    )

    id: UUID = Field(primary_key=True)
    account_id: UUID = Field(foreign_key="account.id")
    api_key_id: UUID  # the key that made it, which pays while it is valid
    name: str | None
    every: str
    state: str = Field(sa_column_kwargs={"server_default": text("'active'")})
    request: dict[str, Any] = Field(sa_column=document(nullable=False))  # fields of its jobs: engine, index, diagnose
    urls: list[str] | None = Field(sa_column=document())  # or else:
    sitemap_url: str | None
    total_urls: int | None  # of the last run, or as sent; null: the sitemap has not been read
    webhook_id: UUID | None = Field(sa_column=Column(Uuid, ForeignKey("webhook.id", ondelete="SET NULL")))
    next_at: datetime = Field(sa_column=moment(now=True))  # when the next job is due
    busy_until: datetime | None = Field(sa_column=moment(nullable=True))  # a sweep makes its job; lost after that
    open_job_id: UUID | None  # a job whose answers have not been looked at
    last_job_id: UUID | None
    last_run_at: datetime | None = Field(sa_column=moment(nullable=True))
    skipped: dict[str, Any] | None = Field(sa_column=document())  # why no job was made the last time: code, message, at
    created_at: datetime = Field(sa_column=moment(now=True))
    until_indexed: bool = Field(sa_column_kwargs={"server_default": text("false")})  # then it pauses by itself
    finished_at: datetime | None = Field(sa_column=moment(nullable=True))  # when it did


class IndexMonitorPageRow(Row, table=True):
    """The last real answer of one index about one URL of a monitor."""

    __table_args__ = (Index("index_monitor_page_checked_at_idx", "checked_at"),)

    monitor_id: UUID = Field(sa_column=_of_monitor(primary_key=True))
    page: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))  # SHA-256 of the URL
    index: str = Field(primary_key=True)
    is_indexed: bool
    checked_at: datetime = Field(sa_column=moment())


class IndexMonitorChangeRow(Row, table=True):
    """An answer that differs from the last one of the same index about the same URL."""

    __table_args__ = (
        CheckConstraint(one_of("change", CHANGES), name="index_monitor_change_change_check"),
        Index("index_monitor_change_monitor_idx", "monitor_id", "id"),
        Index("index_monitor_change_checked_at_idx", "checked_at"),
    )

    id: int = Field(sa_column=Column(BigInteger, Identity(always=True), primary_key=True))
    monitor_id: UUID = Field(sa_column=_of_monitor())
    job_id: UUID
    url: str
    change: str
    index: str
    provider: str
    proof_url: str | None  # of a URL that is newly indexed
    checked_at: datetime = Field(sa_column=moment())
    before_at: datetime = Field(sa_column=moment())  # when the answer was given that no longer holds


class SiteConnectionRow(Row, table=True):
    """An account's access to a service for site owners (capabilities/index_check/sites/connections.py)."""

    __table_args__ = (UniqueConstraint("account_id", "service", "name"),)

    id: UUID = Field(primary_key=True)
    account_id: UUID = Field(foreign_key="account.id")
    service: str  # search_console
    name: str  # whose access it is: a service account's address, say; no secret
    credentials: bytes = Field(
        sa_column=Column(LargeBinary, nullable=False)
    )  # encrypted (pipeline/accounts/secret_box.py)
    fault: str | None  # why it can't be used until it is connected anew; null: it can
    created_at: datetime = Field(sa_column=moment(now=True))


class OwnedSiteRow(Row, table=True):
    """A site, or property, that a connection has access to."""

    __table_args__ = (Index("owned_site_account_idx", "account_id"),)

    connection_id: UUID = Field(
        sa_column=Column(Uuid, ForeignKey("site_connection.id", ondelete="CASCADE"), primary_key=True)
    )
    property: str = Field(primary_key=True)  # as the service writes it: https://example.org/, sc-domain:example.org
    account_id: UUID = Field(sa_column=Column(Uuid, nullable=False))  # the connection's, for one look at submission
    #: The service has refused this connection, not others: so often in a row, until when it is left alone, and why.
    refusals: int = Field(sa_column_kwargs={"server_default": text("0")})
    refused_until: datetime | None = Field(sa_column=moment(nullable=True))
    reason: str | None


class SiteQuotaRow(Row, table=True):
    """A service's pace and quota for a site today, shared by all accounts and processes."""

    service: str = Field(primary_key=True)
    property: str = Field(primary_key=True)
    next_at: datetime = Field(sa_column=moment(now=True))  # earliest time of the next request
    day: date | None  # the service's day that `used` counts
    used: int = Field(sa_column_kwargs={"server_default": text("0")})
    rest_until: datetime | None = Field(sa_column=moment(nullable=True))  # nobody asks before
    reason: str | None  # why it rests
    troubles: int = Field(sa_column_kwargs={"server_default": text("0")})  # without an answer, in a row
