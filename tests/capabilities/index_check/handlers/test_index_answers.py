"""URLs through a process of the search_check pool: what is asked, and what is made of the answer."""

from datetime import timedelta
from pathlib import Path

import pytest
from index_pools import GONE, HERE, Start, raw_result_of, reason_of
from search_engine import SearchEngine

from pipeline.jobs.resubmit import lifetimes
from pipeline.registry import lanes_of, load_kinds
from pipeline.settings import Settings


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


@pytest.mark.parametrize("provider", ["duckduckgo", "bing", "searxng", "brave_api", "serper", "serpapi"])
def test_every_provider_finds_a_page_and_misses_another(start: Start, engine: SearchEngine, provider: str) -> None:
    listed, other = start(provider).check(HERE, GONE)

    assert (listed.state, listed.captured, other.state, other.captured) == ("done", 1, "done", 1)
    assert (reason_of(listed), reason_of(other)) == ("indexed", "not_indexed")
    assert raw_result_of(listed)["matched_url"] == HERE
    assert {name for _, name, _ in engine.asked} == {provider}
    assert raw_result_of(listed)["proofUrl"].startswith("http")
    assert "canary" not in f"{listed}{other}"
    assert len(engine.agents) == 1


def test_a_url_that_can_not_be_checked_fails_alone(start: Start, engine: SearchEngine) -> None:
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
