"""Circuit breaker: applies the table of transitions to a search provider's row, which all processes share.

The table is turned into one UPDATE an event, so each transition is atomic, and its times are the database's.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from pipeline.database import Statement
from pipeline.engine_settings import SearchSettings
from pipeline.kinds.index_check.transitions import (
    OUT_OF_USE,
    RESTING,
    TRANSITIONS,
    Effect,
    Event,
    State,
    Transition,
)

#: At most this share is added to a rest, so that not all processes come back at once.
REST_JITTER = 0.2


def _rest(step: str) -> str:
    ladder = f"(%(ladder)s::interval[])[least({step}, cardinality(%(ladder)s::interval[]))]"
    return f"now() + least(%(max_rest)s, greatest(%(asked_for)s, {ladder}) * %(jitter)s)"


_EFFECTS: Mapping[Effect, Mapping[str, str]] = {
    Effect.NONE: {},
    Effect.FIRST_REST: {"step": "1", "blocked_rounds": "1", "reason": "%(reason)s", "open_until": _rest("1")},
    Effect.NEXT_REST: {
        "step": "p.step + 1",
        "blocked_rounds": "p.blocked_rounds + 1",
        "reason": "%(reason)s",
        "open_until": _rest("p.step + 1"),
    },
    Effect.SAME_REST: {"reason": "%(reason)s", "open_until": f"greatest(p.open_until, {_rest('greatest(p.step, 1)')})"},
    Effect.OFF: {"reason": "%(reason)s", "open_until": "now() + %(off_for)s"},
    Effect.NO_ROUNDS: {"blocked_rounds": "0"},
    Effect.FORGET: {"step": "0", "blocked_rounds": "0", "reason": "NULL", "open_until": "NULL"},
}
_SLOWER = "greatest(p.next_at, now() + %(wait)s)"
#: What an event changes in every state; all of them end the query that was on its way.
_ALWAYS: Mapping[Event, Mapping[str, str]] = {
    Event.ANSWERED: {"brief_limits": "0"},
    Event.BRIEF_LIMIT: {"brief_limits": "p.brief_limits + 1", "next_at": _SLOWER},
    Event.UNREACHABLE: {"next_at": _SLOWER},
}
#: Events that change a closed breaker, or the pace.
_WRITES = frozenset((Event.BLOCKED, Event.BRIEF_LIMIT, Event.UNREACHABLE, Event.REFUSED))


def _listed(states: Sequence[State]) -> str:
    return ", ".join(f"'{state}'" for state in states)


#: The state of a row `p` of search_provider now, in SQL. A process of the release before writes no state, but it does
#: write until when a provider rests.
STATE = (
    f"(CASE WHEN p.open_until > now() THEN CASE WHEN p.state IN ({_listed(RESTING)}) THEN p.state"
    f" ELSE '{State.OPEN}' END ELSE CASE p.state"
    + "".join(f" WHEN '{row.state}' THEN '{row.next}'" for row in TRANSITIONS if row.event is Event.TIME_PASSED)
    + " ELSE p.state END END)"
)
_COLUMNS = ("state", "step", "blocked_rounds", "reason", "open_until", "off_until")


def _update(event: Event) -> str:
    """Return the UPDATE that applies the table's rows for an event; without one that holds, the last keeps all."""
    rows = [f"'{row.state}', {row.guard}, {_values(row)}" for row in TRANSITIONS if row.event is event]
    rows.append(f"NULL, true, {', '.join(f'p.{column}' for column in _COLUMNS)}")
    always = {"busy_until": "NULL", **_ALWAYS.get(event, {})}
    return (
        f"UPDATE search_provider p SET {', '.join(f'{column} = {value}' for column, value in always.items())},"  # noqa: S608
        f" ({', '.join(_COLUMNS)}) = (SELECT {', '.join(f't.{column}' for column in _COLUMNS)} FROM (VALUES "
        + ", ".join(f"({place}, {row})" for place, row in enumerate(rows))
        + f") t (place, now_in, holds, {', '.join(_COLUMNS)})"
        f" WHERE coalesce(t.now_in = {STATE}, true) AND t.holds ORDER BY t.place LIMIT 1)"
        " WHERE p.name = %(name)s"
        # Most answers change nothing, and then cost no write.
        f" AND (p.busy_until IS NOT NULL OR p.state <> '{State.CLOSED}' OR p.brief_limits > 0 OR {event in _WRITES})"
    )


def _values(row: Transition) -> str:
    changes = {"state": f"'{row.next}'", **_EFFECTS[row.effect]}
    if row.next in OUT_OF_USE:
        changes["off_until"] = changes["open_until"]
    return ", ".join(changes.get(column, f"p.{column}") for column in _COLUMNS)


UPDATES: Mapping[Event, str] = {event: _update(event) for event in Event if event is not Event.TIME_PASSED}


@dataclass(frozen=True, slots=True)
class Policy:
    """How long a provider rests, and when it is given up."""

    captcha_rests: Sequence[timedelta]
    throttle_rests: Sequence[timedelta]
    max_rest: timedelta
    max_rounds: int
    off_for: timedelta
    unreachable_for: timedelta

    @classmethod
    def of(cls, settings: SearchSettings) -> Self:
        """Return what the operator has set."""
        return cls(
            captcha_rests=_durations(settings.captcha_minutes),
            throttle_rests=_durations(settings.throttle_minutes),
            max_rest=timedelta(hours=settings.max_rest_hours),
            max_rounds=settings.give_up_rounds,
            off_for=timedelta(minutes=settings.off_minutes),
            unreachable_for=timedelta(seconds=settings.unreachable_seconds),
        )


def _durations(minutes: str) -> list[timedelta]:
    return [timedelta(minutes=float(step)) for step in minutes.split(",") if step.strip()]


@dataclass(frozen=True, slots=True)
class Noted:
    """What an event has led to. `rest` is until the end of the rest, if it rests."""

    state: State
    rest: timedelta | None
    brief_limits: int  # in a row


def note(
    name: str, event: Event, policy: Policy, *, reason: str = "", asked_for: timedelta = timedelta()
) -> Statement[Noted | None]:
    """Apply an event to a provider's breaker and pace; returns None where it changes nothing.

    `asked_for` is the wait that the provider asks for itself, `reason` the code that users are told."""
    return Statement(
        f"{UPDATES[event]} RETURNING p.state, p.open_until - now() AS rest, p.brief_limits",
        {
            "name": name,
            "reason": reason,
            "asked_for": asked_for,
            "wait": min(policy.max_rest, asked_for) or policy.unreachable_for,
            "ladder": list(policy.throttle_rests if reason == "throttled" else policy.captcha_rests),
            "max_rest": policy.max_rest,
            "max_rounds": policy.max_rounds,
            "off_for": policy.off_for,
            "jitter": 1 + REST_JITTER * random.random(),  # noqa: S311  no secret
        },
        lambda rows: Noted(State(rows[0]["state"]), rows[0]["rest"], rows[0]["brief_limits"]) if rows else None,
    )
