"""Resting: how long a provider wants to be left alone, from what it says itself."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pipeline.retry_after import read_retry_after
from workers.engines.search.pages import Reply


def retry_after_of(reply: Reply, *, now: datetime | None = None) -> timedelta:
    """Return what Retry-After (seconds or a date) or X-RateLimit-Reset asks for; nothing: no time at all."""
    if header := reply.headers.get("retry-after", "").strip():
        return read_retry_after(header, now=now) or timedelta()
    # Brave: the seconds until the limit of this second, and until that of this month, are reset.
    first = reply.headers.get("x-ratelimit-reset", "").partition(",")[0].strip()
    return (read_retry_after(first) or timedelta()) if first.isdecimal() else timedelta()


def read_ladder(minutes: str) -> Sequence[timedelta]:
    """Return a ladder of rests, as it stands in the settings."""
    return [timedelta(minutes=float(step)) for step in minutes.split(",") if step.strip()]
