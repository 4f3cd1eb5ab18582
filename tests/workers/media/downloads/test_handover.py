"""Coroutines that are handed to another thread's loop: their results, their errors, and how they are stopped."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, wait

import pytest

from workers.media.downloads.fetcher import Handover


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop in a thread of its own."""
    made = asyncio.new_event_loop()
    thread = threading.Thread(target=made.run_forever)
    thread.start()
    yield made
    made.call_soon_threadsafe(made.stop)
    thread.join()
    made.close()


async def say(word: str) -> str:
    await asyncio.sleep(0)
    return word


async def fail(word: str) -> str:
    raise ValueError(word)


def for_ever(begun: threading.Event, ended: threading.Event):
    async def run() -> str:
        begun.set()
        try:
            await asyncio.sleep(3_600)
        finally:
            ended.set()
        return "never"

    return run


def test_each_gets_its_own_result_or_error(loop: asyncio.AbstractEventLoop) -> None:
    handover: Handover[str] = Handover(loop)

    said, failed = handover.start(lambda: say("yes")), handover.start(lambda: fail("no"))

    assert said.result(60) == "yes"
    with pytest.raises(ValueError, match="no"):
        failed.result(60)


def test_those_that_come_together_wake_the_loop_once_and_later_ones_again(
    loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    handover: Handover[str] = Handover(loop)
    wakes: list[object] = []
    wake, may_go_on = loop.call_soon_threadsafe, threading.Event()
    monkeypatch.setattr(loop, "call_soon_threadsafe", lambda *given: (wakes.append(given), wake(*given)))
    wake(may_go_on.wait, 60)

    together = [handover.start(lambda word=str(number): say(word)) for number in range(100)]
    may_go_on.set()

    assert [future.result(60) for future in together] == [str(number) for number in range(100)]
    assert len(wakes) == 1
    assert handover.start(lambda: say("later")).result(60) == "later"
    assert len(wakes) == 2


def test_from_many_threads_none_is_lost(loop: asyncio.AbstractEventLoop) -> None:
    handover: Handover[str] = Handover(loop)
    started: list[Future[str]] = []

    def start() -> None:
        started.extend([handover.start(lambda: say("yes")) for _ in range(500)])

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not wait(started, timeout=60).not_done
    assert [future.result() for future in started] == ["yes"] * 4_000


def test_cancelling_stops_what_runs(loop: asyncio.AbstractEventLoop) -> None:
    handover: Handover[str] = Handover(loop)
    begun, ended = threading.Event(), threading.Event()
    future = handover.start(for_ever(begun, ended))
    assert begun.wait(60)

    assert future.cancel()

    assert ended.wait(60)
    assert future in wait([future], timeout=60).done


def test_one_that_is_cancelled_before_it_begins_is_told_at_its_turn(loop: asyncio.AbstractEventLoop) -> None:
    handover: Handover[str] = Handover(loop)
    may_go_on, begun, ended = threading.Event(), threading.Event(), threading.Event()
    loop.call_soon_threadsafe(may_go_on.wait, 60)
    future = handover.start(for_ever(begun, ended))

    assert future.cancel()
    may_go_on.set()

    assert future in wait([future], timeout=60).done
    assert not begun.is_set() or ended.wait(60)


def test_what_the_loop_cancels_is_cancelled_for_who_waits(loop: asyncio.AbstractEventLoop) -> None:
    handover: Handover[str] = Handover(loop)
    begun, ended = threading.Event(), threading.Event()
    future = handover.start(for_ever(begun, ended))
    assert begun.wait(60)

    loop.call_soon_threadsafe(lambda: [task.cancel() for task in asyncio.all_tasks(loop)])

    with pytest.raises(CancelledError):
        future.result(60)


def test_a_closed_loop_takes_nothing() -> None:
    closed = asyncio.new_event_loop()
    closed.close()

    with pytest.raises(RuntimeError, match="closed"):
        Handover(closed).start(lambda: say("yes"))
