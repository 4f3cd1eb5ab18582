"""Monitor documents: what is sent to make or change a monitor, and how one is shown."""

from dataclasses import asdict
from typing import ClassVar, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from api.work.webhook_fields import ADDRESS
from capabilities.index_check.monitors.changes import ChangeKind
from capabilities.index_check.monitors.monitor import Every, Monitor, State
from capabilities.index_check.requests.given import BOTH, NEITHER, SitemapUrl
from capabilities.index_check.requests.request import MAX_NAME, MAX_URLS, NAME
from pipeline.kind import Request
from pipeline.timestamps import Timestamp


class MonitorRequest(Request):
    """What is checked, how often, and who is told."""

    model_config = ConfigDict(json_schema_extra={"not": {"anyOf": [NEITHER, BOTH]}})

    urls: list[str] | None = Field(None, min_length=1, max_length=MAX_URLS, description="URLs; or else:")
    sitemap_url: SitemapUrl | None = Field(None, description="A sitemap, which is read before each check.")
    every: Every = Field(description="day or week.")
    name: str | None = Field(
        None, min_length=1, max_length=MAX_NAME, pattern=NAME, description="Its name, and that of its jobs."
    )
    engine: str | None = Field(None, description="A configured search provider; by default the operator's order.")
    index: str | None = Field(None, description="Whose index has to answer; by default any.")
    webhook_url: str | None = Field(None, json_schema_extra=ADDRESS, description="Is told of changes after each check.")


class MonitorChanges(Request):
    """What is changed; what is not sent stays."""

    model_config = ConfigDict(json_schema_extra={"not": BOTH})

    cleared: ClassVar[frozenset[str]] = frozenset({"name", "engine", "index", "webhook_url"})

    state: State | None = Field(None, description="paused or active.")
    urls: list[str] | None = Field(None, min_length=1, max_length=MAX_URLS, description="Instead of those before.")
    sitemap_url: SitemapUrl | None = Field(None, description="Instead of the URLs before.")
    every: Every | None = Field(None, description="day or week.")
    name: str | None = Field(None, min_length=1, max_length=MAX_NAME, pattern=NAME, description="null: none.")
    engine: str | None = Field(None, description="null: the operator's order.")
    index: str | None = Field(None, description="null: any.")
    webhook_url: str | None = Field(None, json_schema_extra=ADDRESS, description="null: nobody is told any more.")


class MonitorSkipped(BaseModel):
    """Why no job was made when it was due the last time."""

    code: str
    message: str
    at: str = Field(json_schema_extra={"format": "date-time"})


class LastDelivery(BaseModel):
    """How the last event for the webhook fared."""

    state: Literal["pending", "delivered", "failed"]
    attempts: int
    status: int | None = Field(description="HTTP status of the last try.")
    error: str | None
    created_at: Timestamp
    next_at: Timestamp | None = Field(description="When it is tried again.")


class IndexMonitor(BaseModel):
    """A monitor as its account sees it."""

    id: UUID
    name: str | None
    state: State
    every: Every
    engine: str | None
    index: str | None
    sitemap_url: str | None
    total_urls: int | None = Field(description="null: the sitemap has not been read yet.")
    webhook_url: str | None
    next_at: Timestamp | None = Field(description="When it checks again; null: it is paused.")
    last_run_at: Timestamp | None
    last_job_id: UUID | None
    skipped: MonitorSkipped | None
    last_delivery: LastDelivery | None
    created_at: Timestamp

    @classmethod
    def of(cls, monitor: Monitor) -> Self:
        """Return a monitor for its account."""
        last = monitor.last_delivery
        fields = {
            **asdict(monitor),
            "engine": monitor.request.get("engine"),
            "index": monitor.request.get("index"),
            "next_at": monitor.next_at if monitor.state == "active" else None,
            "last_delivery": last and {**asdict(last), "next_at": last.next_at if last.state == "pending" else None},
        }
        return cls.model_validate(fields)


class IndexMonitorCreated(IndexMonitor):
    """A monitor that has just got a webhook."""

    webhook_secret: str | None = Field(None, description="What events are signed with. It is shown this once.")


class IndexMonitorChange(BaseModel):
    """A URL whose answer differs from the one before of the same index."""

    id: str
    job_id: UUID
    url: str
    change: ChangeKind
    index: str
    provider: str
    proof_url: str | None
    checked_at: str = Field(json_schema_extra={"format": "date-time"})
    before_at: str = Field(json_schema_extra={"format": "date-time"}, description="When it was not so yet.")
