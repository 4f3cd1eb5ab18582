"""URLs through a process of the search_check pool: what is asked, and what is made of the answer."""

import threading
from datetime import timedelta
from pathlib import Path

import pytest
from index_pools import GONE, HERE, Start, raw_result_of, reason_of
from search_engine import SearchEngine
from waiting import wait_for

from pipeline import lifecycle
from pipeline.jobs.resubmit import lifetimes
from pipeline.registry import lanes_of, load_kinds
from pipeline.settings import Settings


def test_a_listed_page_is_indexed_and_another_is_not(start: Start, engine: SearchEngine) -> None:
    listed, other = start().check(HERE, GONE)

    assert (listed.state, listed.captured, other.state, other.captured) == ("done", 1, "done", 1)
    found = raw_result_of(listed)
    assert (found["reason"], found["provider"], found["matched_url"]) == ("indexed", "duckduckgo", HERE)
    assert found["proofUrl"] == "https://duckduckgo.com/?q=site%3Ae.example%2Fhere"
    assert reason_of(other) == "not_indexed"
    assert engine.queries("bing") == []


def test_a_page_is_found_by_a_url_with_a_campaign_and_a_fragment(start: Start, engine: SearchEngine) -> None:
    (item,) = start("duckduckgo").check(f"{HERE}?utm_source=letter&gclid=1#more")

    assert engine.queries() == ["site:e.example/here"]
    assert reason_of(item) == "indexed"


def test_a_hostile_row_costs_nobody_an_answer(start: Start, engine: SearchEngine) -> None:
    engine.pages = {HERE, f"{HERE}/\x00"}

    (item,) = start("serper").check(HERE)

    assert (reason_of(item), len(engine.asked)) == ("indexed", 1)


def test_a_url_of_a_cancelled_job_is_not_asked_for_in_another_form(start: Start, engine: SearchEngine) -> None:
    engine.always, engine.is_held = "elsewhere", True
    pool = start("duckduckgo")
    job_id = pool.submit(GONE)
    working = threading.Thread(target=pool.drain, args=[lambda: pool.job(job_id).is_final and not pool.holds()])
    working.start()
    wait_for(lambda: engine.asked)

    pool.database.run(lifecycle.cancel(job_id, None))
    wait_for(lambda: all(task.is_stopped() for task in pool.holds()))
    engine.is_held = False

    working.join()
    assert len(engine.asked) == 1


def test_the_deadline_and_the_retention_of_index_jobs_are_the_operators(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, work={"index_deadline_days": 2}, retention={"index_days": 3})
    kinds = load_kinds(settings)

    assert lifetimes(kinds["index_check"], settings) == (timedelta(days=2), timedelta(days=3))
    assert lifetimes(lanes_of(kinds)["index_check_bing"], settings) == (timedelta(days=2), timedelta(days=3))
    assert lifetimes(kinds["speech"], settings) == (timedelta(hours=1), timedelta(hours=24))


def test_an_answer_that_is_used_again_is_told_as_if_this_url_had_been_asked(start: Start, engine: SearchEngine) -> None:
    pool = start("duckduckgo")
    pool.check(HERE)

    (again,) = pool.check("http://www.e.example/here/?utm_source=x")
    found = raw_result_of(again)
    assert (found["reason"], again.captured, len(engine.asked)) == ("indexed", 0, 1)
    # Another's query is nobody's business.
    own = "site:e.example/here"
    assert (found["query"], found["proofUrl"]) == (own, pool.provider("duckduckgo").proof_url(own))


def test_a_fresh_answer_is_used_while_its_provider_is_out_of_use(start: Start, engine: SearchEngine) -> None:
    pool = start()
    pool.check(HERE, engine="bing")
    pool.query(
        "UPDATE search_provider SET state = 'misconfigured', open_until = now() + interval '1 hour', reason = 'config'"
    )

    known, other = pool.check(HERE, GONE)

    assert raw_result_of(known) == {**(known.output or {}), "reason": "indexed", "provider": "bing", "reused": True}
    assert raw_result_of(other)["code"] == "config"
    assert len(engine.asked) == 1


@pytest.mark.parametrize("provider", ["duckduckgo", "bing", "searxng", "brave_api", "serper", "serpapi", "dataforseo"])
def test_every_provider_finds_a_page_and_misses_another(start: Start, engine: SearchEngine, provider: str) -> None:
    listed, other = start(provider).check(HERE, GONE)

    assert (reason_of(listed), reason_of(other)) == ("indexed", "not_indexed")
    assert {name for _, name, _ in engine.asked} == {provider}
    assert raw_result_of(listed)["proofUrl"].startswith("http")
    assert "canary" not in f"{listed}{other}"
    assert len(engine.agents) == 1


def test_a_url_that_can_not_be_checked_fails_alone_while_no_provider_may_be_asked(
    start: Start, engine: SearchEngine
) -> None:
    pool = start(interval=3_600)
    first = pool.check(HERE)
    job_id = pool.submit("https://e.example/other", "no url", "ftp://x", skip_invalid=True)

    pool.drain(lambda: pool.job(job_id).items_failed == 2)

    other, *faulty = pool.items(job_id)
    assert (first[0].state, other.state, [item.state for item in faulty]) == ("done", "ready", ["failed", "failed"])
    found = raw_result_of(faulty[0])
    assert (found["reason"], found["code"]) == ("error", "url_invalid")
    assert found["message"] == (
        "The URL was not checked: it has a space, a control character, a backslash or an invisible character; write it "
        "as %XX. Nothing was charged for it. Correct it."
    )
    assert pool.job(job_id).credits_held == 1
