"""Retry-After: how long a server wants to be left alone, read from a header that may hold any text."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

#: Longest time that is told; nobody waits for it.
LONGEST = timedelta(days=30)
#: `int` refuses a number of thousands of digits; one with more than these is beyond LONGEST.
MAX_DIGITS = 9


def read_retry_after(header: str) -> timedelta | None:
    """Return the time that a header asks for, by seconds or a date, from nothing up to LONGEST; None: it says none."""
    text = header.strip()
    if text.isascii() and text.isdecimal():
        return min(LONGEST, timedelta(seconds=int(text))) if len(text) <= MAX_DIGITS else LONGEST
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return min(LONGEST, max(timedelta(), until - datetime.now(UTC)))
