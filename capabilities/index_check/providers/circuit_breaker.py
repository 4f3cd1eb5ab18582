"""Circuit breaker of a search provider: its states, its events, and the transitions that all processes share.

The capability's README shows the table. Guards and effects are SQL about a row `p` of search_provider. Each event is
one UPDATE made from the table, so a transition is atomic, and its times are the database's.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from capabilities.index_check.settings import SearchSettings
from pipeline.database import SQL, Statement, columns

#: At most this share is added to a rest, so that not all processes come back at once.
REST_JITTER = 0.2


class State(StrEnum):
    """The state of a provider."""

    CLOSED = "closed"  # it is asked at its pace
    OPEN = "open"  # it has blocked us, and rests
    HALF_OPEN = "half_open"  # its rest is over: one probe at a time is sent
    RECOVERING = "recovering"  # half open, and the first probe was answered
    MISCONFIGURED = "misconfigured"  # it has refused our key, and no URL waits for it


#: Nobody asks the provider until `open_until`.
RESTING = (State.OPEN, State.MISCONFIGURED)
#: No URL waits for the provider either.
OUT_OF_USE = (State.MISCONFIGURED,)
#: One query at a time, whatever the pace allows.
PROBING = (State.HALF_OPEN, State.RECOVERING)


class Event(StrEnum):
    """The outcome of a query, or the end of a rest."""

    ANSWERED = "answered"  # the page is indexed, or not
    BLOCKED = "blocked"  # a captcha, HTTP 429, or a block of the engines behind the provider
    EVADED = "evaded"  # rows of other sites, or no rows of a site that is surely listed; some in a row are a block
    BRIEF_LIMIT = "brief_limit"  # an API's limit a second, which names its end
    UNREACHABLE = "unreachable"  # no connection, or HTTP 5xx
    REFUSED = "refused"  # the API does not accept our key or request
    INCONCLUSIVE = "inconclusive"  # says nothing about the provider
    TIME_PASSED = "time_passed"  # the rest is over; applied whenever the row is read


class TransitionGuard(StrEnum):
    """A condition of a row of the table."""

    ALWAYS = "true"
    LONG_WELL = "p.open_until < now() - %(max_rest)s"  # the last rest ended longer ago than the longest rest


def _rest(step: str) -> SQL:
    ladder = "(%(ladder)s::interval[])[least({}, cardinality(%(ladder)s::interval[]))]"
    return SQL(f"now() + least(%(max_rest)s, greatest(%(asked_for)s, {ladder}) * %(jitter)s)").format(SQL(step))


# The effects of a transition: the columns that it changes besides the state.
NOTHING: Mapping[str, SQL] = {}
FIRST_REST = {"step": SQL("1"), "open_until": _rest("1")}
NEXT_REST = {"step": SQL("p.step + 1"), "open_until": _rest("p.step + 1")}
SAME_REST = {"open_until": SQL("greatest(p.open_until, {})").format(_rest("greatest(p.step, 1)"))}
OFF = {"open_until": SQL("now() + %(off_for)s")}
FORGET = {"step": SQL("0"), "open_until": SQL("NULL"), "off_until": SQL("NULL")}


class Transition(NamedTuple):
    """A row of the table."""

    state: State
    event: Event
    next: State
    effect: Mapping[str, SQL] = NOTHING
    guard: TransitionGuard = TransitionGuard.ALWAYS


_C, _O, _H, _R, _M = State
#: For a state and an event, the first row whose guard holds counts. Without one the state stays: a query that was on
#: its way when a breaker opened is not a probe.
TRANSITIONS = (
    Transition(_C, Event.BLOCKED, _O, FIRST_REST),
    Transition(_C, Event.REFUSED, _M, OFF),
    Transition(_O, Event.BLOCKED, _O, SAME_REST),
    Transition(_O, Event.TIME_PASSED, _H),
    Transition(_H, Event.ANSWERED, _R),
    Transition(_H, Event.BLOCKED, _O, FIRST_REST, TransitionGuard.LONG_WELL),
    Transition(_H, Event.BLOCKED, _O, NEXT_REST),
    Transition(_H, Event.REFUSED, _M, OFF),
    Transition(_R, Event.ANSWERED, _C, FORGET),
    Transition(_R, Event.BLOCKED, _O, FIRST_REST, TransitionGuard.LONG_WELL),
    Transition(_R, Event.BLOCKED, _O, NEXT_REST),
    Transition(_R, Event.REFUSED, _M, OFF),
    Transition(_M, Event.TIME_PASSED, _H),
)

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

#: The present state of a row `p` of search_provider, in SQL: a rest is over when `open_until` has passed.
STATE = SQL("(CASE WHEN p.open_until > now() THEN p.state ELSE CASE p.state {} ELSE p.state END END)").format(
    SQL(" ").join(
        SQL("WHEN {} THEN {}").format(row.state, row.next) for row in TRANSITIONS if row.event is Event.TIME_PASSED
    )
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
        lambda rows: Noted(**rows[0] | {"state": State(rows[0]["state"])}) if rows else None,
    )
