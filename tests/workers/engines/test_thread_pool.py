"""Threads: of a pool, and of one's own."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from workers.engines import Stopped
from workers.engines.thread_pool import OwnThread, ThreadPool


def test_who_is_done_takes_what_is_given_next() -> None:
    threads = ThreadPool("test")
    seen: list[threading.Thread] = []

    for _ in range(3):
        threads.start(lambda: seen.append(threading.current_thread()))
        while threads._open:
            threading.Event().wait(0.001)

    assert len(set(seen)) == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_fails_ends_its_own_thread_alone() -> None:
    threads = ThreadPool("test")
    seen: list[threading.Thread] = []
    begun, done = threading.Event(), threading.Event()

    def fail() -> None:
        seen.append(threading.current_thread())
        begun.set()
        raise ValueError("nobody foresaw this")

    threads.start(fail)
    assert begun.wait(60)
    seen[0].join(timeout=60)
    threads.start(done.set)

    assert done.wait(60)


def test_whoever_asks_it_is_done_in_one_thread_and_answered_to_who_asked() -> None:
    own, met = OwnThread("own"), threading.Barrier(4)

    def ask(number: int) -> tuple[int, int, int]:
        met.wait(60)
        return number, *own.run(lambda: (number, threading.get_ident()))

    with ThreadPoolExecutor(4) as callers:
        answers = list(callers.map(ask, range(4)))

    assert [(asked, answered) for asked, answered, _ in answers] == [(number, number) for number in range(4)]
    assert len({thread for *_, thread in answers}) == 1
    assert answers[0][2] != threading.get_ident()


@pytest.mark.parametrize("error", [Stopped(), ZeroDivisionError("why"), SystemExit(3)])
def test_what_was_raised_is_raised_and_the_thread_goes_on(error: BaseException) -> None:
    own = OwnThread("own")

    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        own.run(fail)

    assert raised.value is error
    assert own.run(lambda: 7) == 7


def test_what_was_given_is_not_kept() -> None:
    class Picture:
        pass

    own, picture = OwnThread("own"), Picture()
    seen = weakref.ref(picture)

    assert own.run(lambda kept=picture: kept is not None)
    del picture
    own.run(lambda: None)  # the first is over, in the thread as well
    gc.collect()

    assert seen() is None
