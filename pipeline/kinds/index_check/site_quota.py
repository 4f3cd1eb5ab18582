"""Site quota: how often a service may still be asked about a site, the same for all processes and accounts.

Google counts a site's requests whoever makes them, and its days end at midnight in California.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from pipeline.database import Row, Statement
from pipeline.engine_settings import SiteServiceSettings
from pipeline.kinds.index_check.sites import OwnedSite

#: The reason of a site that is not asked because a quota is used up.
QUOTA = "quota"
#: The reason of one whose service was not reached, or was in trouble, some times in a row.
UNREACHABLE = "unreachable"
#: A rest that ends so soon is waited for; for a longer one, the URL is asked elsewhere.
SHORT_REST = timedelta(minutes=2)
#: Rests after a first and a second answer "quota exceeded" in a row that does not say which quota it is. Google: wait
#: 15 minutes; if it is still exceeded, it is that of the day (developers.google.com/webmaster-tools/limits).
QUOTA_RESTS = (timedelta(minutes=1), timedelta(minutes=15))

_ZONE = "'America/Los_Angeles'"
_TODAY = f"(now() AT TIME ZONE {_ZONE})::date"
_TOMORROW = f"(({_TODAY} + 1)::timestamp AT TIME ZONE {_ZONE})"
_USED = f"(CASE WHEN q.day = {_TODAY} THEN q.used ELSE 0 END)"
_IS_SITE = "q.service = %(service)s AND q.property = %(property)s"


@dataclass(frozen=True, slots=True)
class Booking:
    """The right to ask about a site once, in `wait`; or, without one, how long until it may be asked for again."""

    is_booked: bool
    wait: timedelta
    reason: str | None = None  # why there is none: quota, or what the service refused with
    refusals: int = 0  # in a row, before this


@dataclass(frozen=True, slots=True)
class SiteStatus:
    """How a site stands with its service today. `rest` says until when and why it is not asked, if so."""

    service: str
    property: str
    used: int
    rest: str | None


def _of(site: OwnedSite) -> dict[str, object]:
    return {"service": site.service, "property": site.property}


def book(site: OwnedSite, limits: SiteServiceSettings, *, most: timedelta) -> Statement[Booking]:
    """Book a request about a site at its pace, within its quota, and no later than in `most`."""
    interval = timedelta(minutes=1) / limits.per_minute
    return Statement(
        f"WITH booked AS (UPDATE site_quota q SET day = {_TODAY}, used = {_USED} + 1,"  # noqa: S608  no values in it
        " next_at = greatest(q.next_at, now()) + %(interval)s"
        f" WHERE {_IS_SITE} AND coalesce(q.rest_until <= now(), true) AND {_USED} < %(per_day)s"
        " AND q.next_at <= now() + %(most)s RETURNING q.next_at - %(interval)s - now() AS wait)"
        " SELECT b.wait AS booked, q.refusals, CASE WHEN q.rest_until > now() THEN q.rest_until - now()"
        f" WHEN {_USED} >= %(per_day)s THEN {_TOMORROW} - now() ELSE q.next_at - now() - %(most)s END AS wait,"
        f" CASE WHEN q.rest_until > now() THEN q.reason WHEN {_USED} >= %(per_day)s THEN 'quota' END AS reason"
        f" FROM site_quota q LEFT JOIN booked b ON true WHERE {_IS_SITE}",
        {**_of(site), "interval": interval, "per_day": limits.per_day, "most": most},
        lambda rows: _booking(rows[0]) if rows else Booking(False, timedelta(), "not_connected"),
    )


def _booking(row: Row) -> Booking:
    if row["booked"] is not None:
        return Booking(True, row["booked"], None, row["refusals"])
    return Booking(False, max(timedelta(), row["wait"]), row["reason"], row["refusals"])


def note_answer(site: OwnedSite) -> Statement[None]:
    """Note that the service has answered: refusals count in a row alone."""
    return Statement(
        f"UPDATE site_quota q SET refusals = 0, reason = NULL WHERE {_IS_SITE} AND q.refusals > 0 RETURNING 1 AS noted",  # noqa: S608
        _of(site),
        lambda rows: None,
    )


def note_quota(site: OwnedSite, *, is_of_the_day: bool, asked_for: timedelta) -> Statement[timedelta | None]:
    """Note that the service says a quota is used up: the day's, or one that it does not name; returns the rest.

    None: it rests already."""
    return Statement(
        "UPDATE site_quota q SET refusals = q.refusals + 1, reason = 'quota', rest_until = CASE"  # noqa: S608
        f" WHEN %(day)s OR q.refusals >= cardinality(%(rests)s::interval[]) THEN {_TOMORROW}"
        " ELSE now() + greatest(%(asked_for)s, (%(rests)s::interval[])[q.refusals + 1]) END"
        # Others that were on their way tell nothing new.
        f" WHERE {_IS_SITE} AND coalesce(q.rest_until <= now(), true) RETURNING q.rest_until - now() AS rest",
        {**_of(site), "day": is_of_the_day, "asked_for": asked_for, "rests": list(QUOTA_RESTS)},
        lambda rows: rows[0]["rest"] if rows else None,
    )


def note_refusal(site: OwnedSite, reason: str, *, strikes: int, rest: timedelta) -> Statement[None]:
    """Note that the service refuses to tell about a site; after so many in a row it is not asked for a while."""
    return Statement(
        "UPDATE site_quota q SET refusals = q.refusals + 1, reason = %(reason)s,"  # noqa: S608
        " rest_until = CASE WHEN q.refusals + 1 >= %(strikes)s THEN now() + %(rest)s END"
        f" WHERE {_IS_SITE} AND coalesce(q.rest_until <= now(), true) RETURNING 1 AS noted",
        {**_of(site), "reason": reason, "strikes": strikes, "rest": rest},
        lambda rows: None,
    )


def list_site_statuses(properties: Sequence[str] | None = None) -> Statement[list[SiteStatus]]:
    """Read how sites stand today: some, or all."""
    return Statement(
        f"SELECT q.service::text, q.property::text, {_USED} AS used,"  # noqa: S608
        " CASE WHEN q.rest_until > now() THEN 'not asked before ' ||"
        " to_char(q.rest_until AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC: ' || coalesce(q.reason, 'unknown')"
        " END AS rest FROM site_quota q WHERE %(properties)s::text[] IS NULL OR q.property = ANY(%(properties)s)"
        " ORDER BY q.service, q.property",
        {"properties": list(properties) if properties is not None else None},
        lambda rows: [SiteStatus(**row) for row in rows],
    )
