"""Search providers that block us: rounds, rests, probes, and what they ask for themselves."""

from collections import Counter
from datetime import timedelta
from uuid import uuid4

from index_pools import GONE, HERE, Start, raw_result_of, reason_of, reasons
from search_engine import SearchEngine
from waiting import wait_for

from capabilities.index_check.engines.search.base.verdict import Verdict
from capabilities.index_check.handlers.feedback import MAX_BRIEF_LIMITS, Feedback
from capabilities.index_check.providers.circuit_breaker import Event


def test_a_url_blocked_in_three_rounds_is_rate_limited_and_released(start: Start, engine: SearchEngine) -> None:
    engine.always = "captcha"
    pool = start("duckduckgo", captcha_minutes="0.002,0.003,0.004")

    (item,) = pool.check(HERE)

    found = raw_result_of(item)
    assert (item.state, item.captured) == ("failed", 0)
    assert (found["reason"], found["code"], found["provider"]) == ("rate_limited", "captcha", "duckduckgo")
    moments = [moment for moment, _, _ in engine.asked]
    assert len(moments) == 3
    # Each rest is longer, as the server saw it.
    assert moments[1] - moments[0] >= 0.12
    assert moments[2] - moments[1] >= 0.18


def test_unasked_urls_wait_for_a_provider_that_blocks(start: Start, engine: SearchEngine) -> None:
    engine.always = "captcha"
    pool = start("duckduckgo", captcha_minutes="0.002,0.002,0.002,60")

    job_id = pool.submit(*(f"https://e.example/{number}" for number in range(200)))
    pool.drain(lambda: (pool.rests("duckduckgo") or timedelta()) > timedelta(minutes=1))

    # One URL had its three rounds, the next was blocked as well, and the provider rests for an hour from then on.
    assert len(engine.asked) == 4
    found = Counter((item.state, reason_of(item)) for item in pool.items(job_id))
    assert found == {("failed", "rate_limited"): 1, ("ready", None): 199}
    engine.always = None
    pool.query("UPDATE search_provider SET open_until = now()")
    pool.finish(job_id)
    assert Counter(reasons(pool.items(job_id))) == {"rate_limited": 1, "not_indexed": 199}
    assert not pool.rests("duckduckgo")


def test_no_url_waits_for_a_provider_that_refuses_our_key(start: Start, engine: SearchEngine) -> None:
    engine.broken = {"serper": "403_key", "duckduckgo": "captcha"}
    pool = start("serper,duckduckgo", captcha_minutes="0.002,60")

    job_id = pool.submit(*(f"https://e.example/{number}" for number in range(4)))
    pool.drain(lambda: (pool.rests("duckduckgo") or timedelta()) > timedelta(minutes=1))

    assert {item.state for item in pool.items(job_id)} <= {"ready", "waiting"}
    assert [provider for _, provider, _ in engine.asked] == ["serper", "duckduckgo", "duckduckgo"]


def test_a_url_that_nobody_can_answer_waits_for_nobody(start: Start, engine: SearchEngine) -> None:
    engine.broken = {"duckduckgo": "captcha", "bing": "empty"}
    pool = start(interval=0.05, captcha_minutes="0.002,0.002,0.002,0.002")

    items = pool.check(*(f"https://e.example/{number}" for number in range(6)))

    assert set(reasons(items)) == {"rate_limited"}
    # Nor does anybody else wait, who wants the other one alone.
    engine.broken.pop("bing")
    assert reasons(pool.check(HERE, engine="bing")) == ["indexed"]


def test_two_good_probes_close_a_breaker(start: Start, engine: SearchEngine) -> None:
    pool = start("duckduckgo", slots=4)
    engine.faults.append("captcha")
    job_id = pool.submit(*(f"https://e.example/{number}" for number in range(20)))
    pool.drain(lambda: pool.rests("duckduckgo"))
    wait_for(lambda: pool.query("SELECT count(*) FROM item WHERE state = 'leased'") == 0)
    untouched = {item.id: item.updated_at for item in pool.items(job_id) if item.state == "ready"}
    asked = len(engine.asked)

    pool.runner.drain()
    pool.start().drain()  # another process keeps away as well

    assert len(engine.asked) == asked < 20
    assert {item.id: item.updated_at for item in pool.items(job_id) if item.id in untouched} == untouched
    engine.delay = 0.1
    pool.query("UPDATE search_provider SET open_until = now()")
    pool.finish(job_id)
    assert set(reasons(pool.items(job_id))) == {"not_indexed"}
    moments = [moment for moment, _, _ in engine.asked[asked:]]
    # One probe at a time, though there are four slots, until two were good.
    assert moments[1] - moments[0] >= engine.delay
    assert moments[2] - moments[1] >= engine.delay
    assert not pool.rests("duckduckgo")


def test_no_round_counts_while_another_is_only_not_due(start: Start, engine: SearchEngine) -> None:
    engine.broken["duckduckgo"] = "captcha"
    pool = start(rounds=1, interval=0.4)
    engine.pages.add(GONE)
    pool.check(GONE, engine="bing")

    (item,) = pool.check(HERE)

    assert [provider for _, provider, _ in engine.asked] == ["bing", "duckduckgo", "bing"]
    assert reason_of(item) == "indexed"


def test_retry_after_is_honoured_where_it_is_longer_than_the_ladder(start: Start, engine: SearchEngine) -> None:
    pool = start("duckduckgo", throttle_minutes="0.01")
    engine.faults.append("429")
    engine.retry_after = "1000"
    job_id = pool.submit(HERE)

    pool.drain(lambda: pool.rests("duckduckgo"))

    # With its jitter, and less what has passed of it since.
    assert timedelta(seconds=900) <= pool.rests("duckduckgo") <= timedelta(seconds=1_200)
    assert pool.items(job_id)[0].state == "ready"


def test_an_api_that_names_a_second_is_waited_for_and_no_round_is_counted(start: Start, engine: SearchEngine) -> None:
    engine.retry_after = "1"
    engine.faults.extend(["429"])
    pool = start("serper", rounds=1)

    (item,) = pool.check(HERE)

    assert reason_of(item) == "indexed"
    assert engine.asked[1][0] - engine.asked[0][0] >= 1
    assert "canary-key" not in str(item)


def test_an_api_that_names_a_second_time_and_again_is_one_that_blocks(start: Start) -> None:
    pool = start("serper")
    provider = pool.provider("serper")
    feedback = Feedback(pool.settings.search, pool.database)
    verdict = Verdict("rate_limited", "throttled", rest=timedelta(seconds=1))

    def events(times: int) -> set[Event]:
        return {feedback.note_failure(uuid4(), provider, verdict) for _ in range(times)}

    assert events(MAX_BRIEF_LIMITS) == {Event.BRIEF_LIMIT}
    feedback.note(provider, Event.ANSWERED)
    assert events(MAX_BRIEF_LIMITS) == {Event.BRIEF_LIMIT}
    assert not pool.rests("serper")
    assert events(1) == {Event.BLOCKED}
    assert pool.rests("serper")
