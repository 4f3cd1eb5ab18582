"""A crew: work is begun at once, and by whoever is idle."""

import threading

import pytest

from workers.crew import Crew


def test_what_is_given_goes_on_at_once_beside_what_goes_on_already() -> None:
    both = threading.Barrier(3, timeout=60)
    crew = Crew("test")

    for _ in range(2):
        crew.give(both.wait)  # nobody passes unless the two and this one are there

    both.wait()


def test_who_is_done_takes_what_is_given_next() -> None:
    crew = Crew("test")
    seen: list[threading.Thread] = []

    for _ in range(3):
        crew.give(lambda: seen.append(threading.current_thread()))
        while not crew._idle:
            threading.Event().wait(0.001)

    assert len(set(seen)) == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_what_fails_ends_its_own_thread_alone() -> None:
    crew = Crew("test")
    seen: list[threading.Thread] = []
    begun, done = threading.Event(), threading.Event()

    def fail() -> None:
        seen.append(threading.current_thread())
        begun.set()
        raise ValueError("nobody foresaw this")

    crew.give(fail)
    assert begun.wait(60)
    seen[0].join(timeout=60)
    crew.give(done.set)

    assert done.wait(60)
