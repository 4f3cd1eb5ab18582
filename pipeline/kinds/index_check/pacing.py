"""Pacing: when each search provider may be asked, shared by all processes and kept over restarts.

A provider has a pace (one query an interval; of those that are pages, one at a time) and a breaker. The breaker opens
when the provider blocks us, for longer each time; then one probe at a time goes out, and two good answers close it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from psycopg.types.json import Jsonb

from pipeline.database import Row, Statement

#: Good answers that close a breaker.
PROBES = 2
#: When to look again whether a query that is on its way has ended.
LOOK_AGAIN = timedelta(seconds=0.25)
#: Added to a rest, at most, so that not everybody comes back at once.
REST_JITTER = 0.2


@dataclass(frozen=True, slots=True)
class Pace:
    """How a provider wants to be asked. `alone`: one query at a time."""

    name: str
    interval: timedelta = timedelta()
    jitter: float = 0.0
    alone: bool = False

    @property
    def is_unpaced(self) -> bool:
        """Whether it may be asked at any time."""
        return not self.interval


@dataclass(frozen=True, slots=True)
class Standing:
    """How a provider is now. `wait` is until the next query may go out; not positive: now."""

    name: str
    is_open: bool
    is_off: bool
    is_tested: bool  # the breaker is half open: a probe at a time
    wait: timedelta
    reason: str | None


@dataclass(frozen=True, slots=True)
class Outlook:
    """How providers are now, and which kinds have something to do."""

    standings: Mapping[str, Standing]
    kinds: frozenset[str]


def introduce(names: Sequence[str]) -> Statement[None]:
    """Make the rows of providers that were never asked."""
    return Statement(
        "INSERT INTO search_provider (name) SELECT unnest(%(names)s::text[]) ON CONFLICT DO NOTHING"
        " RETURNING 1 AS made",
        {"names": list(names)},
        lambda rows: None,
    )


def look(names: Sequence[str], kinds: Sequence[str]) -> Statement[Outlook]:
    """Read how providers are, and which of the kinds have ready items."""

    def read(rows: list[Row]) -> Outlook:
        ready = frozenset(rows[0].pop("ready")) if rows else frozenset()
        found = [Standing(**{name: value for name, value in row.items() if name != "ready"}) for row in rows]
        return Outlook({standing.name: standing for standing in found}, ready)

    return Statement(
        "SELECT p.name, coalesce(p.open_until > now(), false) AS is_open,"
        " coalesce(p.off_until > now(), false) AS is_off,"
        " p.step > 0 AS is_tested, greatest(p.next_at, p.busy_until, p.open_until) - now() AS wait, p.reason,"
        " ARRAY(SELECT k FROM unnest(%(kinds)s::text[]) k"
        " WHERE EXISTS (SELECT FROM item i WHERE i.state = 'ready' AND coalesce(i.lane, i.kind) = k)) AS ready"
        " FROM search_provider p WHERE p.name = ANY(%(names)s)",
        {"names": list(names), "kinds": list(kinds)},
        read,
    )


def list_rests() -> Statement[list[tuple[str, str]]]:
    """Read which providers are not asked now, by name; each with until when, and why."""
    return Statement(
        "SELECT name, to_char(greatest(open_until, off_until) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS until,"
        " coalesce(reason, 'unknown') AS reason FROM search_provider WHERE greatest(open_until, off_until) > now()",
        {},
        lambda rows: [(row["name"], f"is not asked before {row['until']} UTC: {row['reason']}") for row in rows],
    )


def take(pace: Pace, *, alone: bool, busy_for: timedelta) -> Statement[bool]:
    """Take a provider's turn; false when somebody else has it, or it is not due.

    One that is taken `alone` and never ended, because its process died, is free again after `busy_for`."""
    return Statement(
        "UPDATE search_provider SET"
        " next_at = now() + %(interval)s * (1 - %(jitter)s + 2 * %(jitter)s * random()),"
        " busy_until = CASE WHEN %(alone)s THEN now() + %(busy)s END"
        " WHERE name = %(name)s AND next_at <= now() AND coalesce(busy_until <= now(), true)"
        " AND coalesce(open_until <= now(), true) AND coalesce(off_until <= now(), true) RETURNING 1 AS taken",
        {
            "name": pace.name,
            "interval": pace.interval,
            "jitter": pace.jitter,
            "alone": alone,
            "busy": busy_for,
        },
        lambda rows: bool(rows),
    )


def renew(name: str, *, busy_for: timedelta) -> Statement[None]:
    """Keep a turn that was taken alone, while its query is on its way."""
    return Statement(
        "UPDATE search_provider SET busy_until = now() + %(busy)s WHERE name = %(name)s AND busy_until IS NOT NULL"
        " RETURNING 1 AS renewed",
        {"name": name, "busy": busy_for},
        lambda rows: None,
    )


def give_back(name: str, *, behind: Sequence[str] = ()) -> Statement[None]:
    """Give a turn back that was not used; the next may be taken at once, or when one of some others may be."""
    return Statement(
        "UPDATE search_provider p SET busy_until = NULL, next_at = greatest(now(), (SELECT"
        # A query on its way has mostly ended long before it would be given up.
        " min(greatest(o.next_at, o.open_until, least(o.busy_until, now() + %(busy)s)))"
        " FROM search_provider o WHERE o.name = ANY(%(behind)s))) WHERE p.name = %(name)s RETURNING 1 AS given",
        {"name": name, "behind": list(behind), "busy": LOOK_AGAIN},
        lambda rows: None,
    )


_PROBED = "(p.step > 0 AND p.open_until <= now())"  # what was on its way when the breaker opened is no probe
_CLOSES = f"({_PROBED} AND greatest(p.probes, 0) + 1 >= %(needed)s)"
_ANSWERED = (
    "UPDATE search_provider p SET busy_until = NULL,"  # noqa: S608  no values in it
    f" probes = CASE WHEN {_PROBED} THEN greatest(p.probes, 0) + 1 ELSE p.probes END,"
    f" step = CASE WHEN {_CLOSES} THEN 0 ELSE p.step END,"
    f" open_until = CASE WHEN {_CLOSES} THEN NULL ELSE p.open_until END,"
    f" reason = CASE WHEN {_CLOSES} THEN NULL ELSE p.reason END"
    " WHERE p.name = %(name)s AND (p.busy_until IS NOT NULL OR p.step > 0)"
)


def answered(name: str) -> Statement[None]:
    """Note a good answer: the turn ends, and the breaker comes nearer to closing."""
    return Statement(f"{_ANSWERED} RETURNING 1 AS noted", {"name": name, "needed": PROBES}, lambda rows: None)


def answered_with(name: str, page: bytes, output: Mapping[str, Any], *, provider: str) -> Statement[None]:
    """Note a good answer, and keep what it said of a page."""
    return Statement(
        f"WITH noted AS ({_ANSWERED}) INSERT INTO verdict (provider, page, output)"  # noqa: S608  no values in it
        " VALUES (%(provider)s, %(page)s, %(output)s) ON CONFLICT (page, provider) DO UPDATE"
        " SET output = excluded.output, checked_at = now() RETURNING 1 AS kept",
        {"name": name, "needed": PROBES, "page": page, "output": Jsonb(output), "provider": provider},
        lambda rows: None,
    )


def find_verdict(names: Sequence[str], page: bytes, *, within: timedelta) -> Statement[dict[str, Any] | None]:
    """Read what one of the providers said of a page lately; the first that did counts."""
    return Statement(
        "SELECT output FROM verdict WHERE page = %(page)s AND provider = ANY(%(names)s)"
        " AND checked_at > now() - %(within)s ORDER BY array_position(%(names)s, provider::text) LIMIT 1",
        {"names": list(names), "page": page, "within": within},
        lambda rows: rows[0]["output"] if rows else None,
    )


def forget_verdicts(*, older_than: timedelta, limit: int) -> Statement[int]:
    """Delete answers that nobody may use again; returns how many."""
    return Statement(
        "WITH gone AS (DELETE FROM verdict WHERE (page, provider) IN (SELECT page, provider FROM verdict"
        " WHERE checked_at < now() - %(older_than)s ORDER BY checked_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)"
        " RETURNING 1) SELECT count(*) AS gone FROM gone",
        {"older_than": older_than, "limit": limit},
        lambda rows: int(rows[0]["gone"]),
    )


def stumbled(name: str) -> Statement[None]:
    """Note that a turn ended without an answer that says anything about the provider."""
    return Statement(
        "UPDATE search_provider SET busy_until = NULL WHERE name = %(name)s AND busy_until IS NOT NULL"
        " RETURNING 1 AS noted",
        {"name": name},
        lambda rows: None,
    )


def paused(name: str, wait: timedelta) -> Statement[None]:
    """Note that a provider said itself when to come back: the pace slows down, the breaker stays."""
    return Statement(
        "UPDATE search_provider SET busy_until = NULL, next_at = greatest(next_at, now() + %(wait)s)"
        " WHERE name = %(name)s RETURNING 1 AS noted",
        {"name": name, "wait": wait},
        lambda rows: None,
    )


def blocked(
    name: str, *, ladder: Sequence[timedelta], retry_after: timedelta, most: timedelta, rounds: int, reason: str
) -> Statement[timedelta]:
    """Open the breaker, for longer each time; returns for how long. One that is open climbs no further.

    One that blocks in more than so many rounds in a row, with no good answer between, is out of use while it rests:
    nothing waits for it. Where the last rest ended longer ago than `most`, all begins at the first step again."""
    return Statement(
        # Below 0, `probes` are the rounds in a row: what came before a good answer says nothing any more.
        "UPDATE search_provider p SET busy_until = NULL, probes = s.probes, step = s.step, reason = %(reason)s,"
        " open_until = s.until, off_until = CASE WHEN s.probes < -%(rounds)s THEN s.until ELSE p.off_until END"
        " FROM (SELECT name, step, probes, greatest(open_until, now() + least(%(most)s,"
        " greatest(%(retry_after)s, (%(ladder)s::interval[])[least(step, cardinality(%(ladder)s::interval[]))])"
        " * (1 + %(jitter)s * random()))) AS until"
        " FROM (SELECT name, open_until,"
        " CASE WHEN open_until > now() THEN greatest(step, 1) WHEN is_past THEN 1 ELSE step + 1 END AS step,"
        " CASE WHEN open_until > now() THEN probes WHEN is_past THEN -1 ELSE least(probes, 0) - 1 END AS probes"
        " FROM (SELECT *, coalesce(open_until < now() - %(most)s, false) AS is_past"
        " FROM search_provider WHERE name = %(name)s FOR UPDATE) found) climbed) s"
        " WHERE p.name = s.name RETURNING p.open_until - now() AS rest",
        {
            "name": name,
            "ladder": list(ladder),
            "retry_after": retry_after,
            "most": most,
            "rounds": rounds,
            "reason": reason,
            "jitter": REST_JITTER,
        },
        lambda rows: rows[0]["rest"],
    )


def put_off(name: str, *, off_for: timedelta, reason: str) -> Statement[None]:
    """Put a provider out of use: it refuses our key, or our way of asking."""
    return Statement(
        "UPDATE search_provider SET busy_until = NULL, off_until = now() + %(off_for)s, reason = %(reason)s"
        " WHERE name = %(name)s RETURNING 1 AS noted",
        {"name": name, "off_for": off_for, "reason": reason},
        lambda rows: None,
    )
