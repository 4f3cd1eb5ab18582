"""Jobs: requests, and their progress."""

from dataclasses import field
from datetime import datetime
from typing import Any

from pressroom.documents import Document


class JobProgress(Document):
    """The progress of a job, in the unit of its kind."""

    done: float
    total: float
    failed: int
    unit: str | None = None


class JobCredits(Document):
    """The credits that a job set aside, took, and gave back."""

    held: int
    captured: int
    released: int


class Job(Document):
    """A job at the time of the answer."""

    id: str
    kind: str
    state: str  #: queued, running, and in the end succeeded, partial, failed, cancelled or expired
    progress: JobProgress
    credits: JobCredits
    error: dict[str, Any] | None = None  #: why something is missing: `code`, `message` and more
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    expires_at: datetime | None = None  #: when its result is deleted
    engine: str | None = None
    route: str
    source: str | None = None
    priority: str = "normal"  #: low, normal or high, among its account's jobs
    name: str | None = None
    request_id: str
    links: dict[str, str] = field(default_factory=dict)

    @property
    def has_ended(self) -> bool:
        """Return whether its state is final."""
        return self.finished_at is not None

    @property
    def has_delivered(self) -> bool:
        """Return whether all or a part of it was delivered."""
        return self.state in {"succeeded", "partial"}
