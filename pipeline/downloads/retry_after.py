"""Retry-After: how long a server wants to be left alone, read from a header that may hold any text."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

#: Longest time that is believed; a server that names a longer one is asked again after this.
LONGEST = timedelta(days=30)
#: A number with more digits is beyond LONGEST anyway, and `int` refuses thousands of them.
MAX_DIGITS = 9


def read_retry_after(header: str, *, now: datetime | None = None) -> timedelta | None:
    """Return the time that a header asks for, by seconds or a date, from nothing up to LONGEST; None: it says none."""
    header = header.strip()
    if header.isascii() and header.isdecimal():
        seconds = header.lstrip("0") or "0"
        return LONGEST if len(seconds) > MAX_DIGITS else min(LONGEST, timedelta(seconds=int(seconds)))
    try:
        until = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return min(LONGEST, max(timedelta(), until - (now or datetime.now(UTC))))
