"""Pacing: when each search provider may be asked next, for all processes and over restarts.

A provider's pace, one query an interval, and its circuit breaker are in its row of search_provider.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from capabilities.index_check.providers.circuit_breaker import STATE, State
from pipeline.database import SQL, Row, Statement, nothing

#: When to look again whether a query on its way has ended.
LOOK_AGAIN = timedelta(seconds=0.25)
#: When to look again whether a provider is still paused.
PAUSED = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Pace:
    """A provider's pace: one query an interval (zero: at any time), or one at a time (`alone`)."""

    name: str
    interval: timedelta = timedelta()
    jitter: float = 0.0
    alone: bool = False


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    """A provider's state. `wait` is the time until the next query may be sent; zero or less: now."""

    name: str
    state: State
    wait: timedelta
    reason: str | None = None
    brief_limits: int = 0  # in a row
    evasions: int = 0  # in a row


@dataclass(frozen=True, slots=True)
class Overview:
    """The providers by pace name, and the lanes that have ready items."""

    providers: Mapping[str, ProviderStatus]
    lanes: frozenset[str]


def add_providers(names: Sequence[str]) -> Statement[None]:
    return Statement(
        "INSERT INTO search_provider (name) SELECT unnest(%(names)s::text[]) ON CONFLICT DO NOTHING"
        " RETURNING 1 AS made",
        {"names": list(names)},
        nothing,
    )


# A paused provider rests, unless it is misconfigured.
_LOOK = SQL(
    "SELECT p.name, CASE WHEN s.is_paused AND {state} <> {misconfigured} THEN {open} ELSE {state} END AS state,"
    " greatest(p.next_at, p.busy_until, p.open_until, CASE WHEN s.is_paused THEN now() + {pause} END) - now() AS wait,"
    " p.reason, p.brief_limits, p.evasions, ARRAY(SELECT k FROM unnest(%(lanes)s::text[]) k"
    " WHERE EXISTS (SELECT FROM item i WHERE i.state = 'ready' AND coalesce(i.lane, i.kind) = k)) AS ready"
    " FROM search_provider p CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM pause o WHERE o.scope = 'provider'"
    " AND o.name = split_part(p.name, ':', 1)) AS is_paused) s WHERE p.name = ANY(%(names)s)"
).format(state=STATE, open=State.OPEN, misconfigured=State.MISCONFIGURED, pause=PAUSED)


def look(names: Sequence[str], lanes: Sequence[str] = ()) -> Statement[Overview]:
    def read(rows: list[Row]) -> Overview:
        ready = frozenset(rows[0]["ready"]) if rows else frozenset()
        fields = ("name", "wait", "reason", "brief_limits", "evasions")
        found = [ProviderStatus(state=State(row["state"]), **{name: row[name] for name in fields}) for row in rows]
        return Overview({one.name: one for one in found}, ready)

    return Statement(_LOOK, {"names": list(names), "lanes": list(lanes)}, read)


def book(pace: Pace, *, alone: bool, busy_for: timedelta) -> Statement[bool]:
    """Book a provider for one query; False if another process has it, or it is not due.

    A booking `alone` whose process died expires after `busy_for`."""
    return Statement(
        "UPDATE search_provider SET"
        " next_at = now() + %(interval)s * (1 - %(jitter)s + 2 * %(jitter)s * random()),"
        " busy_until = CASE WHEN %(alone)s THEN now() + %(busy)s END"
        " WHERE name = %(name)s AND next_at <= now() AND coalesce(busy_until <= now(), true)"
        " AND coalesce(open_until <= now(), true) RETURNING 1 AS booked",
        {"name": pace.name, "interval": pace.interval, "jitter": pace.jitter, "alone": alone, "busy": busy_for},
        bool,
    )


def renew(name: str, *, busy_for: timedelta) -> Statement[None]:
    return Statement(
        "UPDATE search_provider SET busy_until = now() + %(busy)s WHERE name = %(name)s AND busy_until IS NOT NULL"
        " RETURNING 1 AS renewed",
        {"name": name, "busy": busy_for},
        nothing,
    )


def give_back(name: str, *, behind: Sequence[str] = ()) -> Statement[None]:
    """Give an unused booking back. The next may be made at once, or when one of `behind` is due."""
    return Statement(
        "UPDATE search_provider p SET busy_until = NULL, next_at = greatest(now(), (SELECT"
        # A query on its way mostly ends long before its booking expires.
        " min(greatest(o.next_at, o.open_until, least(o.busy_until, now() + %(busy)s)))"
        " FROM search_provider o WHERE o.name = ANY(%(behind)s))) WHERE p.name = %(name)s RETURNING 1 AS given",
        {"name": name, "behind": list(behind), "busy": LOOK_AGAIN},
        nothing,
    )
