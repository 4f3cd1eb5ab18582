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
     ("endless", "page_too_large"), ("script", "unrecognised_page")],
)  # fmt: skip
def test_another_provider_takes_over_from_one_that_is_blocked_or_broken(
    start: Start, engine: SearchEngine, fault: str, code: str
) -> None:
    pool = start(tries=2, max_page_bytes=100_000)
    engine.faults.extend([fault] * (2 if fault == "500" else 1))

    (item,) = pool.check(HERE)

    found = raw_result_of(item)
    assert (found["reason"], found["provider"]) == ("indexed", "bing")
    assert engine.queries("bing") == ["site:e.example/here"]
    # Only a block makes a provider rest.
    assert bool(pool.rests("duckduckgo")) == (code in ("throttled", "captcha"))


def test_another_provider_takes_over_from_one_that_names_a_long_time(start: Start, engine: SearchEngine) -> None:
    engine.retry_after = "3600"
    engine.faults.append("503")
    pool = start(tries=1, interval=0.01)
    pool.check(GONE)

    (item,) = pool.check(HERE)

    assert reason_of(item) == "indexed"
    assert engine.queries("bing")[-1] == "site:e.example/here"
    assert not pool.rests("duckduckgo")  # its breaker is closed: it is no block


def test_another_provider_takes_over_from_one_that_an_operator_paused(
    start: Start, engine: SearchEngine, database: Database
) -> None:
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
def test_what_is_lost_on_the_way_is_asked_again_and_a_challenge_is_not(
    start: Start, engine: SearchEngine, challenge: str
) -> None:
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


def test_a_stalled_answer_and_an_unreachable_provider_fail_as_errors_without_charge(
    start: Start, engine: SearchEngine
) -> None:
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
def test_a_provider_in_trouble_is_left_alone_and_its_urls_are_asked_for_again(
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


def test_pages_that_can_not_be_read_put_a_provider_out_of_use_for_their_job_alone(
    start: Start, engine: SearchEngine
) -> None:
    engine.broken["google"] = "script"
    pool = start("google,bing")

    items = pool.check(*(f"https://e.example/{number}" for number in range(6)))

    assert set(reasons(items)) == {"not_indexed"}
    assert {(item.output or {})["provider"] for item in items} == {"bing"}
    assert len(engine.queries("google")) == 3
    pool.check(HERE)
    assert len(engine.queries("google")) == 4


def test_urls_of_a_job_that_has_set_a_provider_aside_are_not_claimed_before_another_is_due(
    start: Start, engine: SearchEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.broken["google"] = "script"
    pool = start("google,bing", interval=0.3)
    engine.pages.update(f"https://e.example/{number}" for number in range(8))

    items = pool.check(*sorted(engine.pages - {HERE}))

    assert {(item.output or {})["provider"] for item in items} == {"bing"}
    assert len(engine.queries("google")) == 3
    # Hardly one of them was put back for another try.
    assert capsys.readouterr().out.count("item reported") <= 8 + 6


@pytest.mark.parametrize("rest", ["state = 'open', open_until", "next_at"])
def test_urls_that_want_a_provider_which_rests_keep_nobody_else_from_asking_another(
    start: Start, engine: SearchEngine, rest: str
) -> None:
    engine.broken["google"] = "script"
    pool = start("google,bing", interval=0.05)
    pool.query(f"UPDATE search_provider SET {rest} = now() + interval '1 hour' WHERE name ~ 'bing'")

    job_id = pool.submit(*(f"https://e.example/{number}" for number in range(6)))
    pool.drain(lambda: {item.state for item in pool.items(job_id)} == {"waiting"})

    assert len(engine.queries("google")) == 3
    pool.check(HERE, engine="google")
    assert len(engine.queries("google")) == 4


def test_a_url_whose_providers_are_all_of_no_use_for_its_job_fails_with_the_reason(
    start: Start, engine: SearchEngine
) -> None:
    engine.always = "script"

    items = start("google").check(*(f"https://e.example/{number}" for number in range(6)))

    assert codes(items) == {"js_required"}
    assert {item.captured for item in items} == {0}
    assert len(engine.queries("google")) == 3


def test_a_process_that_can_ask_nobody_leaves_the_urls_to_others(start: Start, engine: SearchEngine) -> None:
    able = start("brave_api")
    unable = start("brave_api", brave_api={"api_key": None})
    unable.handlers.clear()  # it has nothing to close
    job_id = unable.submit(HERE)

    unable.runner.drain()

    assert [item.state for item in unable.items(job_id)] == ["ready"]
    able.drain(lambda: able.job(job_id).is_final)
