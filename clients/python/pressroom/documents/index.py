"""Index jobs: which pages search engines show."""

from datetime import datetime
from typing import Any

from pressroom.documents import Document


class IndexJob(Document):
    """URLs to check or to submit."""

    id: str
    name: str | None = None
    type: str  #: check or submit
    total_urls: int
    processed_urls: int
    indexed_count: int
    submitted_count: int | None = None
    status: str  #: running, complete, failed or cancelled
    error_message: str | None = None
    created_at: datetime
    pending_count: int
    failed_count: int
    rate_limited_count: int
    sitemap_url: str | None = None
    eta: datetime | None = None
    #: Why URLs wait: `until`, and `providers`, each with its own `until`, `code` and `message`.
    waiting_for: dict[str, Any] | None = None


class UrlRecord(Document):
    """The result for one URL."""

    id: str
    url: str
    sent_url: str | None = None
    status: str  #: pending, processing, done or failed
    is_indexed: bool | None = None
    search_status: str | None = None
    #: `reason`, and with it code, provider, index, proofUrl, diagnosis and more (docs/indexing.md).
    raw_result: dict[str, Any] | None = None
    last_error: str | None = None
    created_at: datetime
    updated_at: datetime


class IndexMonitor(Document):
    """URLs that are checked again every day or week."""

    id: str
    name: str | None = None
    state: str  #: active or paused
    every: str  #: day or week
    engine: str | None = None
    index: str | None = None
    diagnose: bool = False
    until_indexed: bool = False
    finished_at: datetime | None = None  #: when it paused by itself, as every URL was indexed
    sitemap_url: str | None = None
    total_urls: int | None = None
    webhook_url: str | None = None
    webhook_secret: str | None = None  #: signs its webhooks; shown once, when it is made
    next_at: datetime | None = None
    last_run_at: datetime | None = None
    last_job_id: str | None = None
    skipped: dict[str, Any] | None = None
    last_delivery: dict[str, Any] | None = None
    created_at: datetime


class IndexMonitorChange(Document):
    """A URL that entered or left an index."""

    id: str
    job_id: str
    url: str
    change: str  #: newly_indexed or dropped
    index: str
    provider: str
    proof_url: str | None = None
    checked_at: datetime
    before_at: datetime
