"""The circuit breaker: probed in the background, closed by probes alone."""

import queue
import threading
from datetime import timedelta

import pytest

from workers.engines import EngineUnavailable
from workers.engines.circuit_breaker import REFRESH, CircuitBreaker

PAUSE = timedelta(minutes=5)


class World:
    """A service, a clock, and who is told."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.works = True
        self.probes = 0
        self.changes: list[bool] = []
        self.breaker = CircuitBreaker("edge", self.probe, pause=PAUSE, clock=lambda: self.now, on_change=self.note)

    def probe(self) -> None:
        self.probes += 1
        if not self.works:
            raise EngineUnavailable("no answer")

    def note(self) -> None:
        self.changes.append(self.breaker.is_available())

    def after(self, duration: timedelta) -> bool:
        self.now += duration.total_seconds()
        self.breaker.check()
        return self.breaker.is_available()


@pytest.fixture
def world() -> World:
    return World()


def test_nothing_is_available_until_a_probe_has_succeeded(world):
    assert not world.breaker.is_available()
    assert world.after(timedelta())
    assert world.changes == [True]


def test_after_a_failure_it_is_left_alone_for_the_pause_and_then_probed(world):
    world.after(timedelta())

    world.breaker.failed("the service broke off")

    assert not world.breaker.is_available()
    assert not world.after(PAUSE - timedelta(seconds=1))
    assert world.probes == 1
    assert world.after(timedelta(seconds=1))
    assert world.changes == [True, False, True]


def test_many_failures_at_once_count_as_one(world):
    world.after(timedelta())
    world.breaker.failed("first")
    world.now += 100

    world.breaker.failed("second")

    assert world.after(PAUSE - timedelta(seconds=100))
    assert world.changes == [True, False, True]


def test_a_service_that_works_is_looked_at_once_a_day(world):
    world.after(timedelta())
    world.after(REFRESH - timedelta(seconds=1))
    assert world.probes == 1

    world.works = False
    assert not world.after(timedelta(seconds=1))


def test_who_needs_it_is_told_why_not_and_when_to_come_back(world):
    world.after(timedelta())
    world.breaker.require()
    world.breaker.failed("the service refused (HTTP 429)")
    world.now += 60

    with pytest.raises(EngineUnavailable, match="HTTP 429") as raised:
        world.breaker.require()

    assert raised.value.retry_after == timedelta(minutes=4)
    assert raised.value.status == 503


def test_the_thread_probes_at_once_and_again_when_it_is_told_of_a_failure(world):
    told, may_probe = queue.Queue[bool](), threading.Event()
    may_probe.set()

    def probe() -> None:
        assert may_probe.wait(60)
        world.probe()

    breaker = CircuitBreaker(
        "edge", probe, pause=timedelta(seconds=0.05), on_change=lambda: told.put(breaker.is_available())
    )

    breaker.start()
    assert told.get(timeout=60)
    may_probe.clear()  # or who is told may be late, and find that it is well again
    breaker.failed("it broke off")

    assert not told.get(timeout=60)
    may_probe.set()
    assert told.get(timeout=60)
    breaker.stop()
