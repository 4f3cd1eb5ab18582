"""Circuit breaker: applies the table of transitions to a search provider's row, for all processes.

Each event is one UPDATE made from the table, so a transition is atomic, and its times are the database's.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from capabilities.index_check.providers.transitions import OUT_OF_USE, RESTING, TRANSITIONS, Event, State, Transition
from capabilities.index_check.settings import SearchSettings
from pipeline.database import SQL, Statement, columns

#: At most this share is added to a rest, so that not all processes come back at once.
REST_JITTER = 0.2

_SLOWER = SQL("greatest(p.next_at, now() + %(wait)s)")
_NOW, _NULL = SQL("now()"), SQL("NULL")
#: Changes of an event in every state; each also ends the query that was on its way.
_ALWAYS: Mapping[Event, Mapping[str, SQL]] = {
    Event.ANSWERED: {"brief_limits": SQL("0"), "evasions": SQL("0"), "answered_at": _NOW},
    Event.BLOCKED: {"blocked_at": _NOW},
    Event.EVADED: {"evasions": SQL("p.evasions + 1"), "blocked_at": _NOW},
    Event.BRIEF_LIMIT: {"brief_limits": SQL("p.brief_limits + 1"), "next_at": _SLOWER},
    Event.UNREACHABLE: {"next_at": _SLOWER},
}
#: These events mostly change nothing, and then cost no write. `answered_at` is written once a minute.
_CHANGED = SQL("(p.busy_until IS NOT NULL OR p.state <> {closed} OR p.brief_limits + p.evasions > 0)").format(
    closed=State.CLOSED
)
_FREQUENT: Mapping[Event, SQL] = {
    Event.ANSWERED: SQL("({changed} OR coalesce(p.answered_at < now() - interval '1 min', true))").format(
        changed=_CHANGED
    ),
    Event.INCONCLUSIVE: _CHANGED,
}
_COLUMNS = ("state", "step", "reason", "open_until", "off_until")

#: The present state of a row `p` of search_provider, in SQL. Processes of the release before last write no state, only
#: the end of a rest (`open_until`), and of one that no URL waits for (`off_until`); those of the release before write
#: `given_up` for such a rest.
STATE = SQL(
    "(CASE WHEN p.state = {closed} AND p.off_until > now() AND NOT coalesce(p.open_until > now(), false)"
    " THEN {misconfigured} WHEN p.open_until > now() THEN CASE WHEN p.state IN ({resting}) THEN p.state ELSE {open} END"
    " ELSE CASE p.state {time_passed} WHEN 'given_up' THEN {half_open} ELSE p.state END END)"
).format(
    resting=SQL(", ").join(RESTING),
    time_passed=SQL(" ").join(
        SQL("WHEN {} THEN {}").format(row.state, row.next) for row in TRANSITIONS if row.event is Event.TIME_PASSED
    ),
    **{str(state): state for state in State},
)


def _update(event: Event) -> SQL:
    """Return the UPDATE that applies the table's rows for an event. If none holds, the last row changes nothing."""
    rows = [
        SQL("{}, {}, {}").format(row.state, SQL(row.guard), _values(row)) for row in TRANSITIONS if row.event is event
    ]
    rows.append(SQL("NULL, true, {}").format(columns(_COLUMNS, table="p")))
    always = {"busy_until": _NULL, **_ALWAYS.get(event, {})}
    return SQL(
        "UPDATE search_provider p SET {always}, ({columns}) = (SELECT {chosen} FROM (VALUES {rows})"
        " t (place, now_in, holds, {columns})"
        " WHERE coalesce(t.now_in = {state}, true) AND t.holds ORDER BY t.place LIMIT 1)"
        " WHERE p.name = %(name)s AND {is_news}"
    ).format(
        always=SQL(", ").join(SQL("{} = {}").format(SQL(column), value) for column, value in always.items()),
        columns=columns(_COLUMNS),
        chosen=columns(_COLUMNS, table="t"),
        rows=SQL(", ").join(SQL("({}, {})").format(place, row) for place, row in enumerate(rows)),
        state=STATE,
        is_news=_FREQUENT.get(event, SQL("true")),
    )


def _values(row: Transition) -> SQL:
    changes = {"state": SQL("{}").format(row.next), **row.effect}
    if "open_until" in changes:
        changes["reason"] = SQL("%(reason)s") if row.next in RESTING else _NULL
    if row.next in OUT_OF_USE:
        changes["off_until"] = changes["open_until"]
    return SQL(", ").join(changes.get(column, SQL(f"p.{column}")) for column in _COLUMNS)


UPDATES: Mapping[Event, SQL] = {event: _update(event) for event in Event if event is not Event.TIME_PASSED}


@dataclass(frozen=True, slots=True)
class Noted:
    """The result of an event. `brief_limits` and `evasions` are counts in a row."""

    state: State
    rest: timedelta | None
    brief_limits: int
    evasions: int


def note(
    name: str, event: Event, settings: SearchSettings, *, reason: str = "", asked_for: timedelta = timedelta()
) -> Statement[Noted | None]:
    """Apply an event to a provider's breaker and pace; returns None if it changes nothing.

    `reason` is the code that users see, `asked_for` the wait that the provider asks for."""
    max_rest = timedelta(hours=settings.max_rest_hours)
    minutes = settings.throttle_minutes if reason == "throttled" else settings.captcha_minutes
    return Statement(
        f"{UPDATES[event]} RETURNING p.state, p.open_until - now() AS rest, p.brief_limits, p.evasions",
        {
            "name": name,
            "reason": reason,
            "asked_for": asked_for,
            "wait": min(max_rest, asked_for) or timedelta(seconds=settings.unreachable_seconds),
            "ladder": [timedelta(minutes=float(step)) for step in minutes.split(",")],
            "max_rest": max_rest,
            "off_for": timedelta(minutes=settings.off_minutes),
            "jitter": 1 + REST_JITTER * random.random(),  # noqa: S311  no secret
        },
        lambda rows: Noted(State(rows[0].pop("state")), **rows[0]) if rows else None,
    )
