"""Search engines that evade an answer: what they do becomes no "not indexed", and is not charged."""

import threading
from datetime import timedelta

import pytest
from index_pools import GONE, HERE, Start, codes, raw_result_of, reason_of, reasons
from search_engine import SearchEngine
from waiting import wait_for

from capabilities.index_check.providers import pacing
from capabilities.index_check.providers.circuit_breaker import State
from pipeline import lifecycle

CONTROL_QUERY = "site:wikipedia.org"
PAGES = tuple(f"https://e.example/{number}" for number in range(6))


@pytest.mark.parametrize("provider", ["duckduckgo", "bing", "searxng"])
def test_empty_pages_for_all_that_is_asked_are_no_answer(start: Start, engine: SearchEngine, provider: str) -> None:
    engine.broken[provider] = "silent"

    (item,) = start(provider).check(HERE)

    assert codes([item]) == {"empty_unproven"}
    assert (item.state, item.captured, reason_of(item)) == ("failed", 0, "error")
    # Both forms, and what every engine lists.
    assert len(engine.asked) == 3
    assert engine.queries()[-1] == CONTROL_QUERY


def test_the_control_site_is_asked_for_once_in_a_while_and_not_for_each_url(start: Start, engine: SearchEngine) -> None:
    pool = start("bing", interval=0.01)
    pool.query("UPDATE search_provider SET control_at = now() + interval '1 hour'")
    job_id = pool.submit(*PAGES)
    pool.drain(lambda: {item.state for item in pool.items(job_id)} == {"waiting"})
    forms = engine.queries()

    pool.query("UPDATE search_provider SET control_at = NULL")
    pool.query("UPDATE item SET run_at = now() WHERE state = 'waiting'")
    pool.finish(job_id)

    assert set(reasons(pool.items(job_id))) == {"not_indexed"}
    assert len(forms) == 2 * len(PAGES)
    # Its proof holds for all that were missed before.
    assert engine.queries() == [*forms, CONTROL_QUERY]


def test_the_rows_of_each_url_prove_what_others_missed_before(start: Start, engine: SearchEngine) -> None:
    engine.pages.update(PAGES)
    pool = start("bing", interval=0.01)
    pool.query("UPDATE search_provider SET control_at = now() + interval '1 hour'")
    pool.check(PAGES[0])
    job_id = pool.submit(GONE)
    pool.drain(lambda: pool.items(job_id)[0].state == "waiting")

    pool.check(PAGES[1])
    pool.query("UPDATE item SET run_at = now() WHERE state = 'waiting'")
    pool.finish(job_id)

    assert reasons(pool.items(job_id)) == ["not_indexed"]
    assert CONTROL_QUERY not in engine.queries()


@pytest.mark.parametrize("fault", ["decoys", "silent"])
def test_a_provider_that_evades_three_times_rests(start: Start, engine: SearchEngine, fault: str) -> None:
    engine.pages.update(PAGES)
    engine.broken["duckduckgo"] = fault
    pool = start()

    items = pool.check(*PAGES)

    assert set(reasons(items)) == {"indexed"}
    assert {(item.output or {})["provider"] for item in items} == {"bing"}
    assert len(engine.queries("duckduckgo")) == 3 * (1 if fault == "decoys" else 3)
    assert pool.rests("duckduckgo")


def test_one_answer_between_evasions_makes_a_provider_rest_no_sooner(start: Start, engine: SearchEngine) -> None:
    engine.pages.update(PAGES)
    engine.faults.extend(["decoys", "decoys"])
    pool = start("duckduckgo")
    pool.check(*PAGES[:3])
    engine.faults.extend(["decoys", "decoys"])

    items = pool.check(*PAGES[3:])

    assert reasons(items) == ["error", "error", "indexed"]
    assert not pool.rests("duckduckgo")


@pytest.mark.parametrize("provider", ["duckduckgo", "bing", "searxng", "brave_api", "serper", "serpapi"])
def test_rows_that_are_deeper_ask_the_second_form(start: Start, engine: SearchEngine, provider: str) -> None:
    engine.pages = {f"{GONE}/deeper", f"{HERE}/deeper"}
    engine.second = {HERE}
    pool = start(provider)

    listed, other = pool.check(HERE, GONE)

    assert (reason_of(listed), reason_of(other)) == ("indexed", "not_indexed")
    # The first form shows nothing of a page that the second form alone knows.
    engine.pages, engine.second = set(), {f"{HERE}/2"}
    engine.asked.clear()
    assert reasons(pool.check(f"{HERE}/2")) == ["indexed"]
    assert len(engine.asked) == 2
    found = raw_result_of(other)
    assert found["near_matches"] == [{"url": f"{GONE}/deeper", "relation": "deeper"}]


def test_a_miss_while_an_engine_is_unresponsive_is_no_answer(start: Start, engine: SearchEngine) -> None:
    engine.broken["searxng"] = "unresponsive"
    pool = start("searxng,bing")

    listed, other = pool.check(HERE, HERE.replace("here", "there"))

    assert {(item.output or {})["provider"] for item in (listed, other)} == {"bing"}
    assert not pool.rests("searxng")  # others behind it may well find the next page
    (item,) = pool.check(GONE, engine="searxng")
    assert (codes([item]), reason_of(item), item.captured) == ({"engines_blocked"}, "error", 0)


@pytest.mark.parametrize(("engines", "code"), [("bing", "no_match"), ("bing,google", "engines_blocked")])
def test_an_empty_list_needs_engines_that_showed_something(
    start: Start, engine: SearchEngine, engines: str, code: str
) -> None:
    searxng = {"url": f"{engine.address}/searxng", "interval_seconds": 0, "engines": engines}

    listed, other = start("searxng", searxng=searxng).check(HERE, GONE)

    assert reason_of(listed) == "indexed"
    # The instance names bing alone with its rows.
    assert codes([other]) == {code}
    assert engine.named == {engines}


def test_a_worker_that_waits_for_an_answer_leaves_off_when_nobody_wants_it(start: Start, engine: SearchEngine) -> None:
    engine.is_held = True
    pool = start("duckduckgo", interval=0.01)
    job_id = pool.submit(HERE)
    working = threading.Thread(target=pool.drain, args=[lambda: pool.job(job_id).is_final and not pool.holds()])
    working.start()
    wait_for(lambda: engine.asked)

    pool.database.run(lifecycle.cancel(job_id, None))

    working.join()
    assert (engine.is_held, len(engine.asked)) == (True, 1)
    status = pool.database.run(pacing.look([pool.provider("duckduckgo").pace_name]))
    (found,) = status.providers.values()
    # The query is over for the others, too.
    assert (found.state, found.wait < timedelta(seconds=1)) == (State.CLOSED, True)
