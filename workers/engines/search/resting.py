"""Resting: how long a provider wants to be left alone, from what it says itself."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from workers.engines.search.pages import Reply


def retry_after_of(reply: Reply, *, now: datetime | None = None) -> timedelta:
    """Return what Retry-After (seconds or a date) or X-RateLimit-Reset asks for; nothing: no time at all."""
    if header := reply.headers.get("retry-after", "").strip():
        return _retry_after(header, now or datetime.now(UTC))
    # Brave: the seconds until the limit of this second, and until that of this month, are reset.
    first = reply.headers.get("x-ratelimit-reset", "").partition(",")[0].strip()
    return timedelta(seconds=int(first)) if first.isdecimal() and len(first) < 8 else timedelta()


def _retry_after(header: str, now: datetime) -> timedelta:
    if header.isdecimal():
        return timedelta(seconds=min(int(header), 10**8))
    try:
        until = parsedate_to_datetime(header)
    except ValueError:
        return timedelta()
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(timedelta(), until - now)


def read_ladder(minutes: str) -> Sequence[timedelta]:
    """Return a ladder of rests, as it stands in the settings."""
    return [timedelta(minutes=float(step)) for step in minutes.split(",") if step.strip()]
