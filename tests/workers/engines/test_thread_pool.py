"""The thread pool: work is begun at once, and by a thread that is idle."""

import threading

import pytest

from workers.engines.thread_pool import ThreadPool


def test_what_is_given_goes_on_at_once_beside_what_goes_on_already() -> None:
    both = threading.Barrier(3, timeout=60)
    threads = ThreadPool("test")

    for _ in range(2):
        threads.start(both.wait)  # nobody passes unless the two and this one are there

    both.wait()


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
