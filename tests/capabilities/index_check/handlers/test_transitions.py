"""The circuit breaker of a search provider: its table row by row, and what holds after any events."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capabilities.index_check.handlers.pacer import OutOfUse, Pacer, Permit
from capabilities.index_check.providers import circuit_breaker, pacing
from capabilities.index_check.providers.circuit_breaker import (
    OUT_OF_USE,
    PROBING,
    RESTING,
    TRANSITIONS,
    Event,
    State,
    Transition,
    TransitionGuard,
    note,
)
from capabilities.index_check.providers.pacing import Pace
from capabilities.index_check.settings import SearchSettings
from pipeline.database import Database, Statement

SEARCH = SearchSettings(captcha_minutes="10,30,90", off_minutes=45)
MAX_REST = timedelta(hours=SEARCH.max_rest_hours)
MINUTE = timedelta(minutes=1)
#: How long a provider rests after the first of its blocks, before the jitter; None: its rest stays as it was.
RESTS = (
    (circuit_breaker.FIRST_REST, 10),
    (circuit_breaker.NEXT_REST, 30),
    (circuit_breaker.SAME_REST, 10),
    (circuit_breaker.OFF, 45),
)
_numbers = count(1)


class Breaker:
    """A provider with a row of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.name = f"provider-{next(_numbers)}"
        self.pacer = Pacer(database, {"it": Pace(self.name)}, {})

    def put(self, state: State, guard: TransitionGuard = TransitionGuard.ALWAYS) -> None:
        """Bring it into a state in which a guard holds, five minutes before or after the end of its rest."""
        rested = timedelta() if state in RESTING else 2 * 5 * MINUTE
        rested += MAX_REST if guard is TransitionGuard.LONG_WELL else timedelta()
        values = {
            "name": self.name,
            "state": State.OPEN if state is State.HALF_OPEN else state,
            "step": 0 if state is State.CLOSED else 1,
            "open": None if state is State.CLOSED else 5 * MINUTE - rested,
        }
        self.database.run(
            Statement(
                "UPDATE search_provider SET state = %(state)s, step = %(step)s,"
                " busy_until = now() + interval '10 seconds', open_until = now() + %(open)s::interval"
                " WHERE name = %(name)s RETURNING 1",
                values,
            )
        )

    def happens(self, event: Event, *, after: timedelta = timedelta()) -> None:
        """Let time pass, and then something happen."""
        self.database.run(
            Statement(
                "UPDATE search_provider SET next_at = next_at - %(after)s, busy_until = busy_until - %(after)s,"
                " open_until = open_until - %(after)s, off_until = off_until - %(after)s"
                " WHERE name = %(name)s RETURNING 1",
                {"name": self.name, "after": after},
            )
        )
        if event is not Event.TIME_PASSED:
            reason = "config" if event is Event.REFUSED else "captcha"
            self.database.run(note(self.name, event, SEARCH, reason=reason))

    @property
    def status(self) -> pacing.ProviderStatus:
        return self.database.run(pacing.look([self.name])).providers[self.name]

    @property
    def rest(self) -> timedelta | None:
        """How long it rests, or has been well for below zero."""
        rows = self.database.run(
            Statement("SELECT open_until - now() AS rest FROM search_provider WHERE name = %(n)s", {"n": self.name})
        )
        rest: timedelta | None = rows[0]["rest"]
        return rest


def described(row: Transition) -> str:
    return f"{row.state}, {row.event}, {row.guard.name}"


@pytest.mark.parametrize("row", TRANSITIONS, ids=described)
def test_each_row_of_the_table_leads_to_its_state_and_rest(database: Database, row: Transition) -> None:
    breaker = Breaker(database)
    breaker.put(row.state, row.guard)
    before = breaker.rest

    breaker.happens(row.event, after=5 * MINUTE if row.event is Event.TIME_PASSED else timedelta())

    assert breaker.status.state == row.next
    rest = breaker.rest
    if row.next is State.CLOSED:
        assert rest is None
    elif minutes := next((minutes for effect, minutes in RESTS if effect is row.effect), None):
        assert rest is not None
        assert minutes * MINUTE - MINUTE <= rest <= minutes * MINUTE * 1.2
    else:
        assert rest is not None
        assert before is not None
        assert rest <= before


def test_the_documents_show_the_same_table() -> None:
    page = (Path(__file__).parents[4] / "capabilities/index_check/README.md").read_text()
    table = page.partition("| state | event |")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    shown = {
        (state, state if after == "the same" else after.strip("`"))
        for states, _, after, _ in cells
        for state in states.replace("`", "").split(", ")
    }

    assert shown == {(str(row.state), str(row.next)) for row in TRANSITIONS}


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(Event),
        st.sampled_from([timedelta(), 9 * MINUTE, 40 * MINUTE, timedelta(hours=2), timedelta(hours=50)]),
    ),
    max_size=25,
)


@given(events=EVENTS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_breaker_lets_go_in_the_end(database: Database, events: Sequence[tuple[Event, timedelta]]) -> None:
    breaker = Breaker(database)
    for event, after in events:
        breaker.happens(Event.TIME_PASSED, after=after)
        breaker.happens(event)

        state, rest = breaker.status.state, breaker.rest
        permit = breaker.pacer.take(["it"])
        if state is State.CLOSED:
            # Nothing but a wait that the provider asked for holds it up.
            assert isinstance(permit, Permit) == (breaker.status.wait <= timedelta())
        if state in RESTING:
            assert rest is not None
            assert timedelta() < rest <= MAX_REST
        if state in OUT_OF_USE:
            # No URL waits for it.
            assert isinstance(permit, OutOfUse)
            assert breaker.pacer.wait(["it"]) == timedelta()
        else:
            assert not isinstance(permit, OutOfUse)
        if state in PROBING and permit is not None:
            assert permit == Permit("it", is_booked=True)
            assert breaker.pacer.take(["it"]) is None
            breaker.pacer.give_back(permit)

    breaker.happens(Event.TIME_PASSED, after=MAX_REST)
    assert breaker.status.state not in RESTING
    assert isinstance(breaker.pacer.take(["it"]), Permit)
    breaker.happens(Event.ANSWERED)
    breaker.happens(Event.ANSWERED)
    assert breaker.status.state is State.CLOSED
