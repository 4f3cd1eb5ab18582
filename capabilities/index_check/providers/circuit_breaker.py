"""Circuit breaker: applies the table of transitions to a search provider's row, which all processes share.

The table is turned into one UPDATE an event, so each transition is atomic, and its times are the database's.
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
#: What an event changes in every state; each also ends the query that was on its way.
_ALWAYS: Mapping[Event, Mapping[str, SQL]] = {
    Event.ANSWERED: {"brief_limits": SQL("0"), "evasions": SQL("0"), "answered_at": _NOW},
    Event.BLOCKED: {"blocked_at": _NOW},
    Event.EVADED: {"evasions": SQL("p.evasions + 1"), "blocked_at": _NOW},
    Event.BRIEF_LIMIT: {"brief_limits": SQL("p.brief_limits + 1"), "next_at": _SLOWER},
    Event.UNREACHABLE: {"next_at": _SLOWER},
}
#: What these change is mostly nothing, and then costs no write. That it has answered is written once a minute.
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

#: The state of a row `p` of search_provider now, in SQL. A process of the release before last writes no state, but it
#: does write until when a provider rests (`open_until`), and until when no URL waits for it (`off_until`); one of the
#: release before writes `given_up` for a rest that no URL waited for.
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
    """Return the UPDATE that applies the table's rows for an event; where none holds, the last keeps all as it is."""
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
    """What an event has led to. `rest` is how long it rests; `brief_limits` and `evasions` are counted in a row."""

    state: State
    rest: timedelta | None
    brief_limits: int
    evasions: int


def note(
    name: str, event: Event, settings: SearchSettings, *, reason: str = "", asked_for: timedelta = timedelta()
) -> Statement[Noted | None]:
    """Apply an event to a provider's breaker and pace; returns None where it changes nothing.

    `reason` is the code that users are told, `asked_for` the wait that the provider asks for itself."""
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
