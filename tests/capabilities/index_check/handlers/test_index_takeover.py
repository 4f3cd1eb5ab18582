"""Search providers that fail: who takes over, what is asked again, and what is said of the URL."""

import pytest
from index_pools import GONE, HERE, Start, codes, raw_result_of, reason_of, reasons
from search_engine import SearchEngine

from capabilities.index_check.handlers.check import MAX_TRIES
from pipeline.database import Database
from pipeline.operations.pauses import pause, resume


@pytest.mark.parametrize(
    ("fault", "code"),
    [("429", "throttled"), ("202", "throttled"), ("captcha", "captcha"), ("unusual", "captcha"),
     ("sorry", "captcha"), ("500", "http_500"), ("404", "http_404"), ("empty", "unrecognised_page"),
     ("endless", "page_too_large"), ("opaque", "unrecognised_page")],
)  # fmt: skip
def test_another_takes_over_from_one_that_fails(start: Start, engine: SearchEngine, fault: str, code: str) -> None:
    pool = start(tries=2, max_page_bytes=100_000)
    engine.faults.extend([fault] * (2 if fault == "500" else 1))

    (item,) = pool.check(HERE)

    found = raw_result_of(item)
    assert (found["reason"], found["provider"]) == ("indexed", "bing")
    assert engine.queries("bing") == ["site:e.example/here"]
    # Only a block makes a provider rest.
    assert bool(pool.rests("duckduckgo")) == (code in ("throttled", "captcha"))


def test_another_takes_over_from_a_paused_one(start: Start, engine: SearchEngine, database: Database) -> None:
    database.run(pause("provider", "duckduckgo"))
    pool = start(tries=1, interval=0.01)
    try:
        (item,) = pool.check(HERE)
    finally:
        database.run(resume("provider", "duckduckgo"))

    assert raw_result_of(item)["provider"] == "bing"
    assert not engine.queries("duckduckgo")
    assert not pool.rests("duckduckgo")  # its row is unchanged

    pool.check(GONE)
    assert engine.queries("duckduckgo")


@pytest.mark.parametrize("challenge", ["captcha", "503_unusual"])
def test_what_is_lost_is_asked_again_and_a_challenge_not(start: Start, engine: SearchEngine, challenge: str) -> None:
    engine.faults.extend(["reset", "503"])
    (item,) = start("duckduckgo").check(HERE)
    assert reason_of(item) == "indexed"
    assert len(engine.queries()) == 3

    engine.asked.clear()
    engine.faults.append(challenge)
    pool = start("duckduckgo", rounds=1)
    (item,) = pool.check(GONE)
    assert (reason_of(item), item.captured) == ("rate_limited", 0)
    assert len(engine.queries()) == 1


def test_a_stalled_answer_is_an_error_without_charge(start: Start, engine: SearchEngine) -> None:
    engine.always = "stall"
    pool = start("duckduckgo", tries=1, limit_seconds=0.1, unreachable_seconds=0.01)

    (item,) = pool.check(HERE)

    found = raw_result_of(item)
    assert (item.state, item.captured, found["reason"], found["code"]) == ("failed", 0, "error", "transport")
    assert "Retry it later" in found["message"]


@pytest.mark.parametrize("provider", ["duckduckgo", "bing", "serpapi"])
def test_a_query_that_is_lost_is_sent_once_a_try(start: Start, engine: SearchEngine, provider: str) -> None:
    engine.always = "reset"

    (item,) = start(provider, tries=2, unreachable_seconds=0.01).check(HERE)

    assert codes([item]) == {"transport"}
    assert len(engine.asked) == 2 * MAX_TRIES


@pytest.mark.parametrize(("retry_after", "waited"), [("", 0.3), ("1", 1.0)])
def test_a_provider_in_trouble_is_left_alone(
    start: Start, engine: SearchEngine, retry_after: str, waited: float
) -> None:
    engine.retry_after = retry_after
    engine.faults.extend(["503"])
    pool = start("serper", tries=1)

    engine.pages.add(GONE)
    found = pool.check(HERE, GONE)

    assert reasons(found) == ["indexed", "indexed"]
    moments = [moment for moment, _, _ in engine.asked]
    assert len(moments) == 3
    assert moments[1] - moments[0] >= waited


def test_unreadable_pages_count_for_their_job_alone(start: Start, engine: SearchEngine) -> None:
    engine.broken["bing"] = "opaque"
    pool = start("bing,duckduckgo")

    items = pool.check(*(f"https://e.example/{number}" for number in range(6)))

    assert set(reasons(items)) == {"not_indexed"}
    assert {(item.output or {})["provider"] for item in items} == {"duckduckgo"}
    assert len(engine.queries("bing")) == 3
    pool.check(HERE)
    assert len(engine.queries("bing")) == 4


@pytest.mark.parametrize("rest", ["state = 'open', open_until", "next_at"])
def test_waiting_urls_hold_up_no_others(start: Start, engine: SearchEngine, rest: str) -> None:
    engine.broken["bing"] = "opaque"
    pool = start("bing,duckduckgo", interval=0.05)
    pool.query(f"UPDATE search_provider SET {rest} = now() + interval '1 hour' WHERE name ~ 'duckduckgo'")

    job_id = pool.submit(*(f"https://e.example/{number}" for number in range(6)))
    pool.drain(lambda: {item.state for item in pool.items(job_id)} == {"waiting"})

    assert len(engine.queries("bing")) == 3
    pool.check(HERE, engine="bing")
    assert len(engine.queries("bing")) == 4


def test_a_url_fails_where_all_providers_are_of_no_use(start: Start, engine: SearchEngine) -> None:
    engine.always = "opaque"

    items = start("bing").check(*(f"https://e.example/{number}" for number in range(6)))

    assert codes(items) == {"opaque_links"}
    assert {item.captured for item in items} == {0}
    assert len(engine.queries("bing")) == 3


def test_a_process_that_can_ask_nobody_leaves_the_urls_to_others(start: Start, engine: SearchEngine) -> None:
    able = start("brave_api")
    unable = start("brave_api", brave_api={"api_key": None})
    unable.handlers.clear()  # it has nothing to close
    job_id = unable.submit(HERE)

    unable.runner.drain()

    assert [item.state for item in unable.items(job_id)] == ["ready"]
    able.drain(lambda: able.job(job_id).is_final)
