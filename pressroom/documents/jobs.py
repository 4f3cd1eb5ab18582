"""Jobs: what was asked for, and how far it is."""

from datetime import datetime
from typing import Any

from pydantic import Field

from pressroom.documents.document import Document


class JobProgress(Document):
    """How far a job is, in the unit of its kind."""

    done: float
    total: float
    failed: int
    unit: str | None = None


class JobCredits(Document):
    """What a job set aside, what it cost, and what was given back."""

    held: int
    captured: int
    released: int


class Job(Document):
    """A job, as it was when it was asked for."""

    id: str
    kind: str
    #: queued, running, and then for good succeeded, partial, failed, cancelled or expired.
    state: str
    progress: JobProgress
    credits: JobCredits
    #: Why it delivered nothing, or not all: `code`, `message` and more.
    error: dict[str, Any] | None = None
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    #: When its result is deleted.
    expires_at: datetime | None = None
    engine: str | None = None
    route: str
    source: str | None = None
    name: str | None = None
    request_id: str
    links: dict[str, str] = Field(default_factory=dict)

    @property
    def has_ended(self) -> bool:
        """Whether its state is for good."""
        return self.finished_at is not None

    @property
    def has_delivered(self) -> bool:
        """Whether all of it, or a part, was delivered."""
        return self.state in {"succeeded", "partial"}
