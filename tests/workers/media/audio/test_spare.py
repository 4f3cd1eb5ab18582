"""What is kept ready: started before it is needed, and closed when nobody needs it."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import timedelta

import pytest
import structlog

from workers.media.audio.spare import Spare

NOW = timedelta(milliseconds=1)
LONG = timedelta(hours=1)


class Started(AbstractContextManager["Started"]):
    """One that was started, by which thread."""

    def __init__(self) -> None:
        self.thread = threading.current_thread()
        self.is_closed = False

    def __exit__(self, *_: object) -> None:
        self.is_closed = True


@pytest.fixture
def started() -> list[Started]:
    return []


@pytest.fixture
def make(started: list[Started]) -> Iterator[Callable[..., Spare[Started]]]:
    made: list[Spare[Started]] = []

    def start() -> Started:
        started.append(Started())
        return started[-1]

    def make(after: timedelta = NOW, keep_for: timedelta = LONG) -> Spare[Started]:
        made.append(Spare(start, after=after, keep_for=keep_for))
        return made[-1]

    yield make
    for one in made:
        one.close()


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.005)


def test_the_next_is_started_by_a_thread_that_stays_and_is_the_one_taken(make, started) -> None:
    spare = make()
    first = spare.take()
    wait_until(lambda: len(started) == 2)
    wait_until(lambda: spare._spare is not None)

    assert first is started[0]
    assert first.thread is threading.current_thread()
    assert spare.take() is started[1]
    assert started[1].thread is not threading.current_thread()
    assert started[1].thread.is_alive()


def test_none_is_started_while_some_are_taken(make, started) -> None:
    spare = make(after=LONG)

    assert [spare.take() for _ in range(3)] == started


def test_one_that_nobody_takes_is_closed_and_no_other_is_started(make, started) -> None:
    make(keep_for=NOW).take()

    wait_until(lambda: len(started) == 2 and started[1].is_closed)
    time.sleep(0.05)
    assert len(started) == 2
    assert not started[0].is_closed  # whoever took it closes it


def test_the_end_closes_the_one_that_is_ready(make, started) -> None:
    spare = make()
    spare.take()
    wait_until(lambda: spare._spare is not None)
    spare.close()

    assert started[1].is_closed
    spare.take()
    time.sleep(0.05)
    assert len(started) == 3  # the one that was taken, and no spare


def test_one_that_can_not_be_started_is_told_to_whoever_takes_it() -> None:
    tries: list[int] = []

    def start() -> Started:
        tries.append(1)
        if len(tries) > 1:
            raise OSError("no more processes")
        return Started()

    spare = Spare(start, after=NOW, keep_for=LONG)
    with structlog.testing.capture_logs() as logged:
        spare.take()
        wait_until(lambda: len(logged) == 1)
    assert (logged[0]["event"], logged[0]["error"]) == ("no spare", "no more processes")
    with pytest.raises(OSError, match="no more processes"):
        spare.take()
    spare.close()
