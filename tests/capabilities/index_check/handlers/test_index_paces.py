"""Paces of search providers: kept by all processes together, by every try, and fair to small jobs."""

import threading
import time
from datetime import timedelta

import pytest
from index_pools import GONE, HERE, Start, reason_of
from payers import open_account
from search_engine import SearchEngine
from waiting import wait_for

from capabilities.index_check.engines.search.base import client
from capabilities.index_check.providers import pacing
from pipeline.database import Database

HOURLY = pacing.Pace("hourly", timedelta(hours=1), jitter=0.5)


def test_the_pace_holds_for_all_processes_together_and_over_a_restart(start: Start, engine: SearchEngine) -> None:
    pool = start("duckduckgo", interval=0.5)
    engine.pages.update(f"https://e.example/{number}" for number in range(6))
    job_id = pool.submit(*sorted(engine.pages - {HERE}))
    others = [threading.Thread(target=pool.start().drain) for _ in range(2)]
    for other in others:
        other.start()

    pool.finish(job_id)

    for other in others:
        other.join()
    moments = [moment for moment, _, _ in engine.asked]
    assert len(moments) == 6
    # Two and a half seconds; half of it, because the first query may have been on its way for longer than the last.
    # With a pace for each process it would be one interval, and nothing without any.
    assert moments[-1] - moments[0] >= 1.25


def test_every_try_of_a_query_keeps_the_pace(start: Start, engine: SearchEngine) -> None:
    engine.faults.extend(["503", "reset"])
    pool = start("duckduckgo", interval=1.25)

    (item,) = pool.check(HERE)

    assert reason_of(item) == "indexed"
    moments = [moment for moment, _, _ in engine.asked]
    assert len(moments) == 3
    # One interval, because the first query may have been on its way for as long as the other; without the pace all of
    # the tries are 0.6 s apart at most.
    assert moments[-1] - moments[0] >= 1.25


def test_an_interval_is_as_long_as_its_jitter_says(database: Database) -> None:
    database.run(pacing.add_providers([HOURLY.name]))
    waits = []
    for _ in range(100):  # that all of them lie on one side is nobody's luck
        assert database.run(pacing.book(HOURLY, alone=False, busy_for=timedelta()))
        waits.append(database.run(pacing.look([HOURLY.name])).providers[HOURLY.name].wait)
        database.run(pacing.give_back(HOURLY.name))

    assert timedelta(minutes=29) < min(waits) < timedelta(minutes=55)
    assert timedelta(minutes=65) < max(waits) <= timedelta(minutes=90)


def test_a_query_on_its_way_keeps_its_turn(start: Start, engine: SearchEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SIGN_EVERY", 0.05)
    pool = start("duckduckgo", interval=0.01)
    engine.is_held = True
    engine.pages.add(GONE)
    job_id = pool.submit(HERE, GONE)
    working = threading.Thread(target=pool.drain, args=[lambda: pool.job(job_id).is_final])
    working.start()
    wait_for(lambda: engine.asked)
    busy_until = "SELECT busy_until FROM search_provider WHERE busy_until IS NOT NULL"
    before = pool.query(busy_until)

    wait_for(lambda: pool.query(busy_until) > before)
    pool.start().drain()

    assert len(engine.asked) == 1
    engine.is_held = False
    working.join()
    assert len(engine.asked) == 2


def test_a_process_that_died_with_its_turn_loses_it_soon(start: Start, engine: SearchEngine) -> None:
    pool = start("duckduckgo", interval=0.01)
    began = time.time()
    assert pool.database.run(pacing.book(pool.provider("duckduckgo").pace, alone=True, busy_for=timedelta(seconds=0.5)))

    (item,) = pool.check(HERE)

    assert reason_of(item) == "indexed"
    assert engine.asked[0][0] - began >= 0.5


def test_a_small_job_does_not_wait_for_a_big_one(start: Start, engine: SearchEngine, database: Database) -> None:
    pool = start("duckduckgo", interval=0.01)
    engine.pages.update(f"https://e.example/{number}" for number in range(40))
    big = pool.submit(*sorted(engine.pages - {HERE}))
    small = pool.submit(HERE, payer=open_account(database))

    pool.finish(big)

    assert pool.job(small).is_final
    # After the first round of the big one, which has ten.
    assert engine.queries().index("site:e.example/here") <= 12
