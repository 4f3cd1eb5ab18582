"""Transitions: the states and events of a search provider's circuit breaker, and the table of what follows.

docs/indexing.md shows the same table in words.
"""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What may be done with a provider now."""

    CLOSED = "closed"  # it is asked at its pace
    OPEN = "open"  # it has blocked us: nobody asks it until its rest is over
    HALF_OPEN = "half_open"  # its rest is over: one probe at a time is sent
    RECOVERING = "recovering"  # half open, and the first probe was answered
    GIVEN_UP = "given_up"  # open, and it has blocked us in so many rounds that no URL waits for it
    MISCONFIGURED = "misconfigured"  # it has refused our key or request: nobody asks it, and no URL waits for it


#: Nobody asks the provider until `open_until`.
RESTING = (State.OPEN, State.GIVEN_UP, State.MISCONFIGURED)
#: No URL waits for the provider either.
OUT_OF_USE = (State.GIVEN_UP, State.MISCONFIGURED)
#: One query at a time, whatever the pace allows.
PROBING = (State.HALF_OPEN, State.RECOVERING)


class Event(StrEnum):
    """What a query came to, or the end of a rest."""

    ANSWERED = "answered"  # the page is indexed, or not
    BLOCKED = "blocked"  # a captcha, HTTP 429, or a block of the engines behind the provider
    BRIEF_LIMIT = "brief_limit"  # an API's limit a second, which names its end
    UNREACHABLE = "unreachable"  # no connection, or HTTP 5xx
    REFUSED = "refused"  # the API does not accept our key or request
    INCONCLUSIVE = "inconclusive"  # nothing that says something about the provider
    TIME_PASSED = "time_passed"  # the rest is over; applied whenever the row is read


class Guard(StrEnum):
    """A condition of a row of the table, in SQL."""

    ALWAYS = "true"
    LONG_WELL = "p.open_until < now() - %(max_rest)s"  # the last rest ended longer ago than the longest rest
    LAST_ROUND = "p.blocked_rounds >= %(max_rounds)s"


class Effect(StrEnum):
    """What a transition changes besides the state."""

    NONE = "-"
    FIRST_REST = "the first rest of the ladder; round 1"
    NEXT_REST = "the next rest of the ladder; one round more"
    SAME_REST = "the same rest from now on, if that is longer"
    OFF = "a rest of its own"
    NO_ROUNDS = "no rounds in a row"
    FORGET = "no rounds, and the ladder from its beginning"


@dataclass(frozen=True, slots=True)
class Transition:
    """A row of the table."""

    state: State
    event: Event
    next: State
    effect: Effect = Effect.NONE
    guard: Guard = Guard.ALWAYS


_C, _O, _H, _R, _G, _M = State
#: Of the rows for a state and an event, the first whose guard holds counts. Where there is none, the state stays: what
#: was on its way when a breaker opened is no probe.
TRANSITIONS = (
    Transition(_C, Event.BLOCKED, _O, Effect.FIRST_REST),
    Transition(_C, Event.REFUSED, _M, Effect.OFF),
    Transition(_O, Event.BLOCKED, _O, Effect.SAME_REST),
    Transition(_O, Event.TIME_PASSED, _H),
    Transition(_H, Event.ANSWERED, _R, Effect.NO_ROUNDS),
    Transition(_H, Event.BLOCKED, _O, Effect.FIRST_REST, Guard.LONG_WELL),
    Transition(_H, Event.BLOCKED, _G, Effect.NEXT_REST, Guard.LAST_ROUND),
    Transition(_H, Event.BLOCKED, _O, Effect.NEXT_REST),
    Transition(_H, Event.REFUSED, _M, Effect.OFF),
    Transition(_R, Event.ANSWERED, _C, Effect.FORGET),
    Transition(_R, Event.BLOCKED, _O, Effect.FIRST_REST, Guard.LONG_WELL),
    Transition(_R, Event.BLOCKED, _O, Effect.NEXT_REST),
    Transition(_R, Event.REFUSED, _M, Effect.OFF),
    Transition(_G, Event.BLOCKED, _G, Effect.SAME_REST),
    Transition(_G, Event.TIME_PASSED, _H),
    Transition(_M, Event.TIME_PASSED, _H),
)
