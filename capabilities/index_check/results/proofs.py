"""Proofs: what makes the empty pages of a search provider believed.

To machines, engines show "no results" as readily as a captcha. So an empty page counts only if the same provider
afterwards shows rows of a site that it is asked for, be it a URL's or the control site, and has not blocked us between
the two. When it did is in its row of search_provider, for all processes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from pipeline.database import Statement

#: How long an engine behind a provider is known to answer, by a row that it has shown.
SHOWN_LASTS = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Proof:
    """When a provider last showed rows of a site that was asked for, when it last blocked us or evaded an answer, and
    when each engine behind it last showed a row.

    All times are in seconds since the epoch, by the database's clock; 0: never."""

    now: float
    proven_at: float = 0.0
    blocked_at: float = 0.0
    shown_by: Mapping[str, float] = field(default_factory=dict)

    def proves(self, missed_at: float, engines: Sequence[str]) -> bool:
        """Return whether a miss counts, and all of some engines have shown a row of late."""
        return self.proven_at > missed_at and not self.silent(engines)

    def silent(self, engines: Sequence[str]) -> list[str]:
        """Return those of some engines that have shown no row of late."""
        since = self.now - SHOWN_LASTS.total_seconds()
        return [engine for engine in engines if self.shown_by.get(engine, 0) < since]


def find_proof(name: str) -> Statement[Proof]:
    """Read what a provider has proven."""
    return Statement(
        "SELECT extract(epoch FROM now())::float8 AS now,"
        " coalesce(extract(epoch FROM proven_at)::float8, 0) AS proven_at,"
        " coalesce(extract(epoch FROM blocked_at)::float8, 0) AS blocked_at,"
        " coalesce(shown_by, '{}') AS shown_by FROM search_provider WHERE name = %(name)s",
        {"name": name},
        lambda rows: Proof(**rows[0]) if rows else Proof(0),
    )


def keep_proof(name: str, engines: Sequence[str]) -> Statement[None]:
    """Keep that a provider has just shown rows of a site that was asked for, and which engines behind it did."""
    return Statement(
        "UPDATE search_provider SET proven_at = now(), shown_by = coalesce(shown_by, '{}') || coalesce((SELECT"
        " jsonb_object_agg(engine, extract(epoch FROM now())::float8) FROM unnest(%(engines)s::text[]) engine), '{}')"
        " WHERE name = %(name)s RETURNING 1 AS kept",
        {"name": name, "engines": list(engines)},
        lambda rows: None,
    )


def book_control(name: str, every: timedelta) -> Statement[timedelta]:
    """Book the control query of a provider, one in so long a time; returns how long to wait. Zero: it is booked."""
    return Statement(
        "WITH booked AS (UPDATE search_provider SET control_at = now() WHERE name = %(name)s"
        " AND coalesce(control_at <= now() - %(every)s, true) RETURNING 1)"
        " SELECT CASE WHEN EXISTS (SELECT FROM booked) THEN interval '0' ELSE greatest(interval '10 ms',"
        " (SELECT control_at + %(every)s - now() FROM search_provider WHERE name = %(name)s)) END AS wait",
        {"name": name, "every": every},
        lambda rows: timedelta(seconds=rows[0]["wait"].total_seconds()),
    )
