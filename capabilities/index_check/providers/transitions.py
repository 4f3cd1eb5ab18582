"""Transitions: the states and events of a search provider's circuit breaker, and the table of its transitions.

The capability's README shows the same table. Guards and effects are SQL about a row `p` of search_provider.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from pipeline.database import SQL


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
#: its way when a breaker opened is no probe.
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
