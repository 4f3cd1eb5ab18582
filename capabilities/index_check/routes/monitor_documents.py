"""Monitor documents: requests to make or change a monitor, and its document."""

from dataclasses import asdict
from typing import ClassVar, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from api.work.common_fields import ADDRESS
from capabilities.index_check.monitors.monitor import Every, Monitor, State
from capabilities.index_check.requests.given import BOTH, NEITHER, SitemapUrl
from capabilities.index_check.requests.request import MAX_NAME, MAX_URLS, NAME
from pipeline.kind import Request
from pipeline.timestamps import Timestamp


class MonitorRequest(Request):
    """A new monitor."""

    model_config = ConfigDict(json_schema_extra={"not": {"anyOf": [NEITHER, BOTH]}})

    urls: list[str] | None = Field(None, min_length=1, max_length=MAX_URLS, description="URLs, or else a sitemap.")
    sitemap_url: SitemapUrl | None = Field(None, description="A sitemap, read before each check.")
    every: Every = Field(description="day or week.")
    name: str | None = Field(
        None, min_length=1, max_length=MAX_NAME, pattern=NAME, description="The name of the monitor and its jobs."
    )
    engine: str | None = Field(None, description="A configured search provider; by default the operator's order.")
    index: str | None = Field(None, description="The index that has to answer; by default any.")
    webhook_url: str | None = Field(None, json_schema_extra=ADDRESS, description="Receives changes after a check.")
    diagnose: bool = Field(False, description="Find out why pages are not indexed, free of charge.")
    until_indexed: bool = Field(False, description="Pause by itself once every URL is indexed.")


class MonitorChanges(Request):
    """Changes of a monitor. Fields that are not sent stay."""

    model_config = ConfigDict(json_schema_extra={"not": BOTH})

    cleared: ClassVar[frozenset[str]] = frozenset({"name", "engine", "index", "webhook_url"})

    state: State | None = Field(None, description="paused or active.")
    urls: list[str] | None = Field(None, min_length=1, max_length=MAX_URLS, description="Replaces URLs or sitemap.")
    sitemap_url: SitemapUrl | None = Field(None, description="Replaces URLs or sitemap.")
    every: Every | None = Field(None, description="day or week.")
    name: str | None = Field(None, min_length=1, max_length=MAX_NAME, pattern=NAME, description="null removes it.")
    engine: str | None = Field(None, description="null: the operator's order.")
    index: str | None = Field(None, description="null: any.")
    webhook_url: str | None = Field(None, json_schema_extra=ADDRESS, description="null removes it.")
    diagnose: bool | None = Field(None, description="Say why pages are not indexed.")
    until_indexed: bool | None = Field(None, description="Pause once every URL is indexed.")


class MonitorSkipped(BaseModel):
    """Why the last run made no job."""

    code: str
    message: str
    at: str = Field(json_schema_extra={"format": "date-time"})


class LastDelivery(BaseModel):
    """The last delivery to the webhook."""

    state: Literal["pending", "delivered", "failed"]
    attempts: int
    status: int | None = Field(description="HTTP status of the last attempt.")
    error: str | None
    created_at: Timestamp
    next_at: Timestamp | None = Field(description="Time of the next attempt.")


class IndexMonitor(BaseModel):
    """A monitor."""

    id: UUID
    name: str | None
    state: State
    every: Every
    engine: str | None
    index: str | None
    sitemap_url: str | None
    diagnose: bool
    until_indexed: bool
    finished_at: Timestamp | None = Field(description="When it paused by itself, as every URL was indexed.")
    total_urls: int | None = Field(description="null until the sitemap has been read.")
    webhook_url: str | None
    next_at: Timestamp | None = Field(description="Time of the next check; null if paused.")
    last_run_at: Timestamp | None
    last_job_id: UUID | None
    skipped: MonitorSkipped | None
    last_delivery: LastDelivery | None
    created_at: Timestamp

    @classmethod
    def of(cls, monitor: Monitor) -> Self:
        fields = {
            **asdict(monitor),
            "engine": monitor.request.get("engine"),
            "index": monitor.request.get("index"),
            "diagnose": monitor.request.get("diagnose", False),
            "next_at": monitor.next_at if monitor.state == "active" else None,
        }
        return cls.model_validate(fields)


class IndexMonitorCreated(IndexMonitor):
    """A monitor with a new webhook."""

    webhook_secret: str | None = Field(None, description="The secret that signs events, shown only once.")
