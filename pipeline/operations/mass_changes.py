"""Mass changes: all jobs of a filter are cancelled or retried, some at a time, by the sweep.

A change is a row with its place, so it survives restarts. Jobs made after it was requested are left alone."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import SQL, Row, Statement, columns, nothing, row_of, rows_of
from pipeline.errors import InvalidRequest
from pipeline.identifiers import first_uuid7, uuid7
from pipeline.lifecycle.jobs import FINAL_STATES, JOB_STATES
from pipeline.operations.failures import MOST_ITEMS

Action = Literal["cancel", "retry"]
ACTIONS: tuple[Action, ...] = get_args(Action)
#: States that an action can change, and those that it changes by default.
CHANGED: Mapping[Action, Sequence[str]] = {
    "cancel": [state for state in JOB_STATES if state not in FINAL_STATES],
    "retry": ["failed", "partial", "expired", "cancelled"],
}
BY_DEFAULT: Mapping[Action, Sequence[str]] = {**CHANGED, "retry": ["failed", "partial", "expired"]}
#: Jobs that one statement looks at.
PAGE = 1_000
#: A sweep that is silent for so long has lost the change to another.
TAKEN_FOR = timedelta(seconds=30)
#: Jobs are looked for from so long before the moment since which they ended.
LONGEST_RUN = timedelta(days=14)
#: Changes that are shown.
MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Chooses jobs by state, kind, account, reason, and the moment since which they ended or, if open, were made."""

    states: Sequence[str]
    kind: str | None = None
    account_id: str | None = None
    code: str | None = None
    since: str | None = None  # ISO 8601


@dataclass(frozen=True, slots=True)
class MassChange:
    """A change and how far it is."""

    id: UUID
    action: Action
    filter: Mapping[str, Any]
    next_id: UUID
    last_id: UUID
    looked_at: int
    changed: int
    refused: Mapping[str, int]
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Page:
    """Jobs to change, and the place after those that were looked at; None: these were the last."""

    job_ids: Sequence[UUID]
    looked_at: int
    next_id: UUID | None


@dataclass(slots=True)
class Outcome:
    """The outcome of a page."""

    changed: int = 0
    refused: dict[str, int] = field(default_factory=dict)


def read_filter(action: str, wanted: Mapping[str, str]) -> tuple[Action, JobFilter]:
    """Return an action and its filter as a person writes them; empty values don't matter. Raises InvalidRequest."""
    known = next((one for one in ACTIONS if one == action), None)
    if known is None:
        raise InvalidRequest(f"Jobs can't be changed by {action[:20]!r}; {' and '.join(ACTIONS)} are possible.")
    states = [wanted["state"]] if wanted.get("state") else BY_DEFAULT[known]
    if not set(states) <= set(CHANGED[known]):
        raise InvalidRequest(f"To {known} is for jobs that are {', '.join(CHANGED[known])}, not {states[0][:20]!r}.")
    try:
        account = str(UUID(wanted["account"])) if wanted.get("account") else None
    except ValueError:
        raise InvalidRequest(f"{wanted['account'][:40]!r} is not an account's id, such as its page shows.") from None
    try:
        hours = float(wanted["hours"]) if wanted.get("hours") else None
    except ValueError:
        raise InvalidRequest(f"{wanted['hours'][:20]!r} is not a number of hours: write 24, or 0.5.") from None
    if hours is not None and not 0 < hours <= 24 * 365:
        raise InvalidRequest(f"{hours:g} hours are too many or too few; a year at most.")
    since = None if hours is None else (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
    return known, JobFilter(states, wanted.get("kind") or None, account, wanted.get("code") or None, since)


def request_change(action: Action, wanted: JobFilter) -> Statement[UUID]:
    """Request a change of all jobs of a filter that there are now."""
    since = datetime.fromisoformat(wanted.since) - LONGEST_RUN if wanted.since else datetime.fromtimestamp(0, UTC)
    return Statement(
        "INSERT INTO mass_change (action, filter, next_id, last_id) VALUES (%(action)s, %(filter)s, %(next)s, %(last)s)"
        " RETURNING id",
        {"action": action, "filter": Jsonb(asdict(wanted)), "next": first_uuid7(since), "last": uuid7()},
        lambda rows: rows[0]["id"],
        repeatable=False,
    )


_COLUMNS = columns(one.name for one in fields(MassChange))
_LIST = SQL("SELECT {} FROM mass_change ORDER BY requested_at DESC LIMIT %(most)s").format(_COLUMNS)
_TAKE = SQL(
    "UPDATE mass_change SET taken_until = now() + %(taken)s WHERE id = (SELECT m.id FROM mass_change m"
    " WHERE m.finished_at IS NULL AND coalesce(m.taken_until < now(), true) ORDER BY m.requested_at LIMIT 1"
    " FOR UPDATE SKIP LOCKED) RETURNING {}"
).format(_COLUMNS)


def list_changes() -> Statement[list[MassChange]]:
    """Read the last changes, the newest first."""
    return Statement(_LIST, {"most": MOST_SHOWN}, rows_of(MassChange))


def stop_change(change_id: UUID) -> Statement[bool]:
    """Stop a change where it is; returns whether it was going on."""
    return Statement(
        "UPDATE mass_change SET finished_at = now() WHERE id = %(id)s AND finished_at IS NULL RETURNING 1 AS stopped",
        {"id": change_id},
        bool,
    )


def take_change() -> Statement[MassChange | None]:
    """Take the oldest change that goes on and that no other sweep has."""
    return Statement(_TAKE, {"taken": TAKEN_FOR}, row_of(MassChange))


# The jobs first, by their primary key alone, so that a filter that finds few still reads few at a time.
_PAGE = SQL("""
WITH looked AS MATERIALIZED (
    SELECT j.id, j.kind, j.state, j.account_id, j.error, coalesce(j.finished_at, j.created_at) AS at FROM job j
    WHERE j.id > %(next)s AND j.id <= %(last)s ORDER BY j.id LIMIT %(page)s
)
SELECT l.id, (l.state = ANY(%(states)s) AND coalesce(l.kind = %(kind)s, true)
    AND coalesce(l.at >= %(since)s::timestamptz, true)
    AND coalesce(l.account_id = %(account)s::uuid, true) AND (%(code)s::text IS NULL OR coalesce(l.error, (
        SELECT i.error FROM item i WHERE i.job_id = l.id AND i.index < {most} AND i.state = 'failed'
        ORDER BY i.index LIMIT 1)) ->> 'code' = %(code)s)) AS matches
FROM looked l ORDER BY l.id
""").format(most=MOST_ITEMS)


def find_page(change: MassChange) -> Statement[Page]:
    """Read the next jobs of a change."""

    def read(rows: list[Row]) -> Page:
        found = [row["id"] for row in rows if row["matches"]]
        return Page(found, len(rows), rows[-1]["id"] if len(rows) == PAGE else None)

    wanted = JobFilter(**change.filter)
    parameters = {"next": change.next_id, "last": change.last_id, "page": PAGE, "states": list(wanted.states)}
    parameters |= {"kind": wanted.kind, "account": wanted.account_id, "code": wanted.code, "since": wanted.since}
    return Statement(_PAGE, parameters, read)


def note_page(change: MassChange, page: Page, outcome: Outcome) -> Statement[None]:
    """Note that a page is done; the next sweep goes on after it."""
    refused = {
        code: change.refused.get(code, 0) + outcome.refused.get(code, 0)
        for code in (change.refused.keys() | outcome.refused.keys())
    }
    return Statement(
        "UPDATE mass_change SET next_id = coalesce(%(next)s, next_id), looked_at = looked_at + %(looked)s,"
        " changed = changed + %(changed)s, refused = %(refused)s, taken_until = NULL,"
        " finished_at = coalesce(finished_at, CASE WHEN %(next)s::uuid IS NULL THEN now() END)"
        " WHERE id = %(id)s AND next_id = %(from)s RETURNING 1 AS noted",
        {
            "id": change.id,
            "from": change.next_id,
            "next": page.next_id,
            "looked": page.looked_at,
            "changed": outcome.changed,
            "refused": Jsonb(refused),
        },
        nothing,
        repeatable=False,
    )


def keep_change(change: MassChange) -> Statement[bool]:
    """Keep a change from other sweeps for longer; returns False when it was stopped."""
    return Statement(
        "UPDATE mass_change SET taken_until = now() + %(taken)s WHERE id = %(id)s AND finished_at IS NULL"
        " RETURNING 1 AS kept",
        {"id": change.id, "taken": TAKEN_FOR},
        bool,
    )
