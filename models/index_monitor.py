"""Index monitors: URLs that are checked again and again, what was last found out about them, and what has changed."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Column, ForeignKey, Identity, Index, LargeBinary, Uuid, text
from sqlmodel import Field, SQLModel

from models.columns import document, moment, one_of

#: How often a monitor checks, whether it does, and what may change.
INTERVALS = ("day", "week")
MONITOR_STATES = ("active", "paused")
CHANGES = ("newly_indexed", "dropped")


def _of_monitor(**options: Any) -> Column[Any]:
    return Column(Uuid, ForeignKey("index_monitor.id", ondelete="CASCADE"), nullable=False, **options)


class IndexMonitor(SQLModel, table=True):
    """A schedule that makes index jobs. It is no work itself: jobs and items carry that."""

    __tablename__ = "index_monitor"
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
    request: dict[str, Any] = Field(sa_column=document(nullable=False))  # fields of its jobs: engine, index
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


class IndexMonitorPage(SQLModel, table=True):
    """The last real answer of one index about one URL of a monitor."""

    __tablename__ = "index_monitor_page"
    __table_args__ = (Index("index_monitor_page_checked_at_idx", "checked_at"),)

    monitor_id: UUID = Field(sa_column=_of_monitor(primary_key=True))
    page: bytes = Field(sa_column=Column(LargeBinary, primary_key=True))  # SHA-256 of the URL
    index: str = Field(primary_key=True)
    is_indexed: bool
    checked_at: datetime = Field(sa_column=moment())


class IndexMonitorChange(SQLModel, table=True):
    """An answer that differs from the last one of the same index about the same URL."""

    __tablename__ = "index_monitor_change"
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
