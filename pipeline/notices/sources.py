"""Sources: the events that people can be told of, and how each is found in the rows of the account."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pipeline.capabilities import parts
from pipeline.webhooks.events import LOW_BALANCE, NEW_SIGN_IN


@dataclass(frozen=True, slots=True)
class Source:
    """An event.

    `sql` finds what happened to %(account)s (and %(person)s) after %(since)s and up to %(until)s: `line` for the
    reader, and `path` below the public URL. `title` heads the lines, with their number as {number}."""

    event: str
    label: str
    title: str
    sql: str


BALANCE = Source(
    LOW_BALANCE,
    "The balance falls below a limit",
    "The balance is low",
    "SELECT available || ' credits are left; the limit is ' || low_balance || '.' AS line, '/dashboard/usage' AS path"
    " FROM account WHERE id = %(account)s AND low_since > %(since)s AND low_since <= %(until)s",
)
FAILED_JOBS = Source(
    "job.failed",
    "Jobs fail",
    "Failed jobs: {number}",
    "SELECT kind || ': ' || coalesce(error ->> 'message', state) AS line, '/dashboard/jobs/' || id AS path FROM job"
    " WHERE account_id = %(account)s AND state IN ('failed', 'expired')"
    " AND finished_at > %(since)s AND finished_at <= %(until)s ORDER BY finished_at",
)
#: An address from which the person has not signed in for 90 days.
SIGN_INS = Source(
    NEW_SIGN_IN,
    "You sign in from a new address",
    "New sign-in",
    "SELECT 'Somebody signed in as you from ' || coalesce(e.address, 'an unknown address') || ' at '"
    " || to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC. If it was not you, change your password.'"
    " AS line, '/dashboard/account' AS path FROM audit_event e"
    " WHERE e.person_id = %(person)s AND e.account_id = %(account)s AND e.action = 'signed in'"
    " AND e.at > %(since)s AND e.at <= %(until)s AND NOT EXISTS (SELECT FROM audit_event o"
    "  WHERE o.person_id = e.person_id AND o.action = 'signed in' AND o.address IS NOT DISTINCT FROM e.address"
    "  AND o.at < e.at AND o.at > e.at - interval '90 days') ORDER BY e.at",
)


@cache
def sources() -> Mapping[str, Source]:
    """Return the sources of the core and of all capabilities, by event."""
    of_capabilities = (source for part in parts("notices") for source in part.SOURCES)
    return {source.event: source for source in (SIGN_INS, BALANCE, FAILED_JOBS, *of_capabilities)}
