"""Moments: times as people read them, in the time zone of their machine."""

from datetime import UTC, datetime, timedelta

#: Units of an age, the longest first, with their seconds.
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def age(moment: datetime, now: datetime | None = None) -> str:
    """Return how long ago something was, in its largest unit: 5 s, 3 min, 2 h, 12 d."""
    return length((now or datetime.now(UTC)) - moment)


def length(time: timedelta) -> str:
    """Return a length of time in its largest unit."""
    seconds = max(0, int(time.total_seconds()))
    size, unit = next(((size, unit) for size, unit in UNITS if seconds >= size), UNITS[-1])
    return f"{seconds // size} {unit}"


def readable(moment: datetime, now: datetime | None = None) -> str:
    """Return a moment by the clock here, and how far it is: 2026-11-23 09:12:05 CET, 3 min ago."""
    now = now or datetime.now(UTC)
    far = f"{length(now - moment)} ago" if moment <= now else f"in {length(moment - now)}"
    return f"{moment.astimezone():%Y-%m-%d %H:%M:%S %Z}, {far}"
