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
    wait_until(lambda: spare._spare is not None)
    second = spare.take()

    assert first.thread is threading.current_thread()
    assert second in started
    assert second is not first
    assert second.thread is not threading.current_thread()
    assert second.thread.is_alive()


def test_none_is_started_while_some_are_taken(make, started) -> None:
    spare = make(after=LONG)

    assert [spare.take() for _ in range(3)] == started


def test_one_that_nobody_takes_is_closed_and_no_other_is_started(make, started) -> None:
    taken = make(keep_for=NOW).take()

    wait_until(lambda: [one.is_closed for one in started if one is not taken] == [True])
    time.sleep(0.05)
    assert len(started) == 2
    assert not taken.is_closed  # whoever took it closes it


def test_the_end_closes_the_one_that_is_ready(make, started) -> None:
    spare = make()
    taken = spare.take()
    wait_until(lambda: spare._spare is not None)
    spare.close()

    assert [one.is_closed for one in started if one is not taken] == [True]
    spare.take()
    time.sleep(0.05)
    assert len(started) == 3  # the one that was taken, and no spare


def test_one_that_can_not_be_started_is_told_to_whoever_takes_it() -> None:
    broken = threading.Event()
    here = threading.current_thread()

    def start() -> Started:
        if broken.is_set() or threading.current_thread() is not here:
            raise OSError("no more processes")
        return Started()

    spare = Spare(start, after=NOW, keep_for=LONG)
    with structlog.testing.capture_logs() as logged:
        spare.take()
        wait_until(lambda: len(logged) == 1)
    assert (logged[0]["event"], logged[0]["error"]) == ("no spare", "no more processes")
    broken.set()
    with pytest.raises(OSError, match="no more processes"):
        spare.take()
    spare.close()
