"""Proofs: whether a search provider's empty pages can be believed now.

Engines send machines "no results" as readily as a captcha. So an empty page counts only if the same provider later
shows rows of a site that it is asked for, a URL's or the control site, without blocking us in between. The times are in
its row of search_provider, for all processes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from pipeline.database import Statement, nothing

#: How long a row proves that the engine behind a provider answers.
SHOWN_LASTS = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Proof:
    """When a provider last showed rows of a site that was asked for, and blocked or evaded us; and when each engine
    behind it last showed a row. In seconds since the epoch, by the database's clock; 0: never."""

    now: float
    proven_at: float = 0.0
    blocked_at: float = 0.0
    shown_by: Mapping[str, float] = field(default_factory=dict)

    def proves(self, missed_at: float, engines: Sequence[str]) -> bool:
        """Return whether a miss counts: rows came after it and no block, and all engines have shown one of late."""
        return self.blocked_at <= missed_at < self.proven_at and not self.silent(engines)

    def silent(self, engines: Sequence[str]) -> list[str]:
        since = self.now - SHOWN_LASTS.total_seconds()
        return [engine for engine in engines if self.shown_by.get(engine, 0) < since]


def find_proof(name: str) -> Statement[Proof]:
    return Statement(
        "SELECT extract(epoch FROM now())::float8 AS now,"
        " coalesce(extract(epoch FROM proven_at)::float8, 0) AS proven_at,"
        " coalesce(extract(epoch FROM blocked_at)::float8, 0) AS blocked_at,"
        " coalesce(shown_by, '{}') AS shown_by FROM search_provider WHERE name = %(name)s",
        {"name": name},
        lambda rows: Proof(**rows[0]) if rows else Proof(0),
    )


def keep_proof(name: str, engines: Sequence[str]) -> Statement[None]:
    """Note that a provider has just shown rows of a site that was asked for, and the engines that had them.

    Each URL's rows prove the misses of others on their way. Nobody waits for the disk: a lost proof costs a query."""
    return Statement(
        "UPDATE search_provider SET proven_at = now(), shown_by = coalesce(shown_by, '{}') || coalesce((SELECT"
        " jsonb_object_agg(engine, extract(epoch FROM now())::float8) FROM unnest(%(engines)s::text[]) engine), '{}')"
        " FROM set_config('synchronous_commit', 'off', true) WHERE name = %(name)s RETURNING 1 AS kept",
        {"name": name, "engines": list(engines)},
        nothing,
    )


def book_control(name: str, every: timedelta) -> Statement[timedelta]:
    """Book a provider's control query, one in so long a time; return the time to wait, or zero if it is booked."""
    return Statement(
        "WITH booked AS (UPDATE search_provider SET control_at = now() WHERE name = %(name)s"
        " AND coalesce(control_at <= now() - %(every)s, true) RETURNING 1)"
        " SELECT CASE WHEN EXISTS (SELECT FROM booked) THEN interval '0' ELSE greatest(interval '10 ms',"
        " (SELECT control_at + %(every)s - now() FROM search_provider WHERE name = %(name)s)) END AS wait",
        {"name": name, "every": every},
        lambda rows: timedelta(seconds=rows[0]["wait"].total_seconds()),
    )
