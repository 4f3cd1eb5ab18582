"""Site quota: how often a service may be asked about a site, by all processes and accounts together.

Google counts a site's requests whoever makes them, and its days end at midnight in California.
"""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from capabilities.index_check.settings import SearchConsoleSettings
from capabilities.index_check.sites.connections import OwnedSite
from pipeline.database import SQL, Row, Statement, nothing, rows_of

#: Reason of a rest: a quota is used up.
QUOTA = "quota"
#: Reason of a rest: the service was not reached, or was in trouble, several times in a row.
UNREACHABLE = "unreachable"
#: Longest rest that a URL waits for; for a longer one it is asked elsewhere.
SHORT_REST = timedelta(minutes=2)
#: Rests after a first and a second "quota exceeded" in a row that names no quota. Google: wait 15 minutes; if it is
#: still exceeded, it is the daily one (developers.google.com/webmaster-tools/limits).
QUOTA_RESTS = (timedelta(minutes=1), timedelta(minutes=15))

_ZONE = "America/Los_Angeles"
_TODAY = SQL("(now() AT TIME ZONE {zone})::date").format(zone=_ZONE)
_TOMORROW = SQL("(({today} + 1)::timestamp AT TIME ZONE {zone})").format(today=_TODAY, zone=_ZONE)
_USED = SQL("(CASE WHEN q.day = {today} THEN q.used ELSE 0 END)").format(today=_TODAY)
_IS_OWN = SQL("s.connection_id = %(connection)s AND s.property = %(property)s")
_IS_SITE = SQL("q.service = %(service)s AND q.property = %(property)s")


def _sql(statement: str) -> SQL:
    """Return a statement with the fragments above in the places of their names."""
    return SQL(statement).format(today=_TODAY, tomorrow=_TOMORROW, used=_USED, is_own=_IS_OWN, is_site=_IS_SITE)


_BOOK = _sql("""
WITH own AS (
    SELECT s.refusals, s.reason, s.refused_until FROM owned_site s WHERE {is_own}
), booked AS (
    UPDATE site_quota q SET day = {today}, used = {used} + 1, next_at = greatest(q.next_at, now()) + %(interval)s
    WHERE {is_site} AND coalesce(q.rest_until <= now(), true) AND {used} < %(per_day)s
        AND NOT EXISTS (SELECT FROM own WHERE own.refused_until > now()) AND q.next_at <= now() + %(most)s
    RETURNING q.next_at - %(interval)s - now() AS wait
)
SELECT b.wait AS booked, q.troubles + coalesce(own.refusals, 0) AS troubles,
       CASE WHEN own.refused_until > now() THEN own.refused_until - now()
            WHEN q.rest_until > now() THEN q.rest_until - now()
            WHEN {used} >= %(per_day)s THEN {tomorrow} - now() ELSE q.next_at - now() - %(most)s END AS wait,
       CASE WHEN own.refused_until > now() THEN own.reason WHEN q.rest_until > now() THEN q.reason
            WHEN {used} >= %(per_day)s THEN 'quota' END AS reason
FROM site_quota q LEFT JOIN own ON true LEFT JOIN booked b ON true WHERE {is_site}
""")
_NOTE_ANSWER = _sql("""
WITH own AS (
    UPDATE owned_site s SET refusals = 0, reason = NULL, refused_until = NULL WHERE {is_own} AND s.refusals > 0
)
UPDATE site_quota q SET troubles = 0, reason = NULL WHERE {is_site} AND q.troubles > 0 RETURNING 1 AS noted
""")
# Others that were on their way tell nothing new.
_NOTE_QUOTA = _sql("""
UPDATE site_quota q SET troubles = q.troubles + 1, reason = 'quota', rest_until = CASE
    WHEN %(day)s OR q.troubles >= cardinality(%(rests)s::interval[]) THEN {tomorrow}
    ELSE now() + greatest(%(asked_for)s, (%(rests)s::interval[])[q.troubles + 1]) END
WHERE {is_site} AND coalesce(q.rest_until <= now(), true) RETURNING q.rest_until - now() AS rest
""")
_NOTE_UNREACHABLE = _sql("""
UPDATE site_quota q SET troubles = q.troubles + 1, reason = 'unreachable',
    rest_until = CASE WHEN q.troubles + 1 >= %(strikes)s THEN now() + %(rest)s END
WHERE {is_site} AND coalesce(q.rest_until <= now(), true) RETURNING 1 AS noted
""")
_NOTE_REFUSAL = _sql("""
UPDATE owned_site s SET refusals = s.refusals + 1, reason = %(reason)s,
    refused_until = CASE WHEN s.refusals + 1 >= %(strikes)s THEN now() + %(rest)s END
WHERE {is_own} AND coalesce(s.refused_until <= now(), true) RETURNING 1 AS noted
""")
_STATUSES = _sql("""
SELECT s.connection_id, s.property::text, coalesce({used}, 0) AS used,
       CASE WHEN s.refused_until > now() THEN 'not asked before '
                || to_char(s.refused_until AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')
                || ' UTC: ' || coalesce(s.reason, 'unknown')
            WHEN q.rest_until > now() THEN 'not asked before '
                || to_char(q.rest_until AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')
                || ' UTC: ' || coalesce(q.reason, 'unknown') END AS rest
FROM owned_site s JOIN site_connection c ON c.id = s.connection_id
LEFT JOIN site_quota q ON q.service = c.service AND q.property = s.property ORDER BY s.property
""")


@dataclass(frozen=True, slots=True)
class Booking:
    """The right to ask about a site once, in `wait`; or else the time until it may be booked again."""

    is_booked: bool
    wait: timedelta
    reason: str | None = None  # why it is not booked: quota, or the service's refusal
    troubles: int = 0  # in a row before this, refusals among them


@dataclass(frozen=True, slots=True)
class SiteStatus:
    """The state of a connection's site today. `rest` says until when and why it is not asked."""

    connection_id: UUID
    property: str
    used: int
    rest: str | None


def _of(site: OwnedSite) -> dict[str, object]:
    return {"service": site.service, "property": site.property, "connection": site.connection_id}


def book(site: OwnedSite, limits: SearchConsoleSettings, *, most: timedelta) -> Statement[Booking]:
    """Book a request about a site at its pace, within its quota, and no later than in `most`."""
    interval = timedelta(minutes=1) / limits.per_minute
    return Statement(
        _BOOK,
        {**_of(site), "interval": interval, "per_day": limits.per_day, "most": most},
        lambda rows: _booking(rows[0]) if rows else Booking(False, timedelta(), "not_connected"),
    )


def _booking(row: Row) -> Booking:
    if row["booked"] is not None:
        return Booking(True, row["booked"], None, row["troubles"])
    return Booking(False, max(timedelta(), row["wait"]), row["reason"], row["troubles"])


def note_answer(site: OwnedSite) -> Statement[None]:
    """Note that the service has answered: only troubles and refusals in a row count."""
    return Statement(_NOTE_ANSWER, _of(site), nothing)


def note_quota(site: OwnedSite, *, is_of_the_day: bool, asked_for: timedelta) -> Statement[timedelta | None]:
    """Note that a quota is used up: the daily one, or an unnamed one; returns the rest, or None if it rests already."""
    return Statement(
        _NOTE_QUOTA,
        {**_of(site), "day": is_of_the_day, "asked_for": asked_for, "rests": list(QUOTA_RESTS)},
        lambda rows: rows[0]["rest"] if rows else None,
    )


def note_unreachable(site: OwnedSite, *, strikes: int, rest: timedelta) -> Statement[None]:
    """Note that the service was not reached, or was in trouble; after several times in a row it rests."""
    return Statement(_NOTE_UNREACHABLE, {**_of(site), "strikes": strikes, "rest": rest}, nothing)


def note_refusal(site: OwnedSite, reason: str, *, strikes: int, rest: timedelta) -> Statement[None]:
    """Note that the service refuses this connection's requests about a site; after several in a row they rest."""
    return Statement(_NOTE_REFUSAL, {**_of(site), "reason": reason, "strikes": strikes, "rest": rest}, nothing)


def list_site_statuses() -> Statement[list[SiteStatus]]:
    return Statement(_STATUSES, {}, rows_of(SiteStatus))
