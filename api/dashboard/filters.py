"""Filters: how templates show numbers, moments and sizes."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from markupsafe import Markup, escape

from pipeline.jobs.job_views import MOST_COUNTED

#: Shown in place of a missing value.
NONE = "–"
UNITS = ("bytes", "kB", "MB", "GB", "TB")


def number(value: float | None) -> str:
    """Return a number with commas, as in 1,234.5."""
    if value is None:
        return NONE
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}".removesuffix(".0")


def open_jobs(value: int) -> str:
    """Return a number of open jobs, of which no more than MOST_COUNTED are counted."""
    return number(value) + (" or more" if value >= MOST_COUNTED else "")


def size(count: int | None) -> str:
    """Return a number of bytes, as in 1.2 MB."""
    if count is None:
        return NONE
    value, unit = float(count), 0
    while value >= 1_000 and unit < len(UNITS) - 1:
        value, unit = value / 1_000, unit + 1
    return f"{value:,.1f}".removesuffix(".0") + f" {UNITS[unit]}"


def duration(value: timedelta | float | None) -> str:
    """Return a time, as in 0.4 s, 12 s, 3 min 20 s, 2 h 5 min or 3 days; a number is seconds."""
    if value is None:
        return NONE
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if seconds < 10:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours // 24} days"


def iso(value: datetime) -> str:
    """Return a moment for machines, as in 2026-11-05T12:00:00Z."""
    return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def utc(value: datetime) -> str:
    """Return a moment for people, as in 2026-11-05 12:00 UTC; a script shows it in the reader's own time."""
    return f"{value.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def marked(text: str) -> Markup:
    """Return a text with what stands between backticks, such as a command, as code; all else is escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts))


FILTERS: Mapping[str, Callable[..., Any]] = {
    "number": number,
    "open_jobs": open_jobs,
    "size": size,
    "duration": duration,
    "iso": iso,
    "utc": utc,
    "marked": marked,
}
