"""Resting: how long a provider wants to be left alone, from what it says itself."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pipeline.retry_after import MAX_DIGITS, read_retry_after
from workers.engines.search.judging.pages import Reply


def retry_after_of(reply: Reply, *, now: datetime | None = None) -> timedelta:
    """Return what Retry-After (seconds or a date) or X-RateLimit-Reset asks for; nothing: no time at all."""
    if header := reply.headers.get("retry-after", "").strip():
        return read_retry_after(header, now=now) or timedelta()
    # Brave: the seconds until the limit of this second, and until that of this month, are reset. Only one that is used
    # up is waited for; where none is said to be, it is the first.
    resets = _numbers(reply, "x-ratelimit-reset")
    used_up = [reset for reset, left in zip(resets, _numbers(reply, "x-ratelimit-remaining"), strict=False) if not left]
    return timedelta(seconds=max(used_up, default=next(iter(resets), 0)))


def _numbers(reply: Reply, header: str) -> list[int]:
    """Return the whole numbers of a header, separated by commas; none when something else is among them."""
    parts = [part.strip() for part in reply.headers.get(header, "").split(",")]
    are_numbers = all(part.isascii() and part.isdecimal() and len(part) <= MAX_DIGITS for part in parts)
    return [int(part) for part in parts] if are_numbers else []


def read_ladder(minutes: str) -> Sequence[timedelta]:
    """Return a ladder of rests, as it stands in the settings."""
    return [timedelta(minutes=float(step)) for step in minutes.split(",") if step.strip()]
