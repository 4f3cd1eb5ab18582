"""Answers that are used again: for how long, for whom, and what they cost."""

from datetime import timedelta

import pytest
from index_pools import GONE, HERE, Pool, Start, raw_result_of
from search_engine import SearchEngine

from pipeline import lifecycle


def grow_old(pool: Pool, hours: float) -> None:
    """Make all answers so much older."""
    pool.query(f"UPDATE verdict SET checked_at = checked_at - interval '{hours} hours'")


@pytest.mark.parametrize(
    ("url", "hours", "is_asked_again"),
    [(HERE, 2, False), (HERE, 7 * 24 - 1, False), (HERE, 7 * 24 + 1, True), (GONE, 0.9, False), (GONE, 1.1, True)],
)
def test_that_a_page_is_there_is_good_for_a_week_and_that_it_is_not_for_an_hour(
    start: Start, engine: SearchEngine, url: str, hours: float, is_asked_again: bool
) -> None:
    pool = start("duckduckgo")
    (first,) = pool.check(url)
    asked = len(engine.asked)
    grow_old(pool, hours)

    (again,) = pool.check(url)

    found = raw_result_of(again)
    assert found["reason"] == raw_result_of(first)["reason"]
    assert (len(engine.asked) > asked) is is_asked_again
    assert again.captured == int(is_asked_again)
    assert found.get("reused", False) is not is_asked_again
    if not is_asked_again:
        assert found["age_seconds"] == pytest.approx(hours * 3_600, abs=60)
        assert found["index"] == "duckduckgo"


def test_the_operator_says_for_how_long_answers_are_good(start: Start, engine: SearchEngine) -> None:
    pool = start("duckduckgo", fresh_days=0, fresh_hours=3)
    pool.check(HERE, GONE)
    grow_old(pool, 2)
    asked = len(engine.asked)

    here, gone = pool.check(HERE, GONE)

    assert (here.captured, gone.captured) == (1, 0)
    assert len(engine.asked) == asked + 1


def test_a_fresh_check_asks_again_and_is_paid(start: Start, engine: SearchEngine) -> None:
    pool = start("duckduckgo")
    pool.check(HERE)
    engine.pages = set()

    (again,) = pool.check(HERE, fresh=True)

    found = raw_result_of(again)
    assert (found["reason"], found.get("reused"), again.captured) == ("not_indexed", None, 1)
    # Others get its answer from now on.
    (later,) = pool.check(HERE)
    assert (raw_result_of(later)["reason"], later.captured) == ("not_indexed", 0)


def test_a_fresh_url_whose_report_was_lost_is_not_asked_for_twice(start: Start, engine: SearchEngine) -> None:
    pool = start("duckduckgo")
    pool.check(HERE)
    job_id = pool.submit(HERE, fresh=True)
    pool.database.run(lifecycle.claim({"index_check": 1}, lease_for=timedelta(microseconds=1)))
    # A process that died between the answer and its report: the answer came after the job was made.
    pool.query("UPDATE verdict SET checked_at = clock_timestamp()")
    pool.drain(lambda: pool.database.run(lifecycle.reap()) is not None)

    pool.finish(job_id)

    assert len(engine.asked) == 1
    assert pool.job(job_id).items_ok == 1
