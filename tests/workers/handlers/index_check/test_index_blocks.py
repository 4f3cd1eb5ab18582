"""Search providers that block us: rounds, rests, probes, and what they ask for themselves."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from uuid import uuid4

import pytest
from index_pools import GONE, HERE, Start, codes, raw_result_of, reason_of, reasons, wait_until
from search_engine import SearchEngine

from pipeline.engine_settings import SearchSettings
from pipeline.kinds.index_check import pacing
from pipeline.kinds.index_check.circuit_breaker import note
from pipeline.kinds.index_check.transitions import Event, State
from workers.engines.search.base.verdict import Verdict
from workers.handlers.index_check.feedback import Feedback


def test_a_url_blocked_in_three_rounds_is_rate_limited_and_released(start: Start, engine: SearchEngine) -> None:
    engine.always = "captcha"
    pool = start("duckduckgo", captcha_minutes="0.002,0.003,0.004")

    (item,) = pool.check(HERE)

    found = raw_result_of(item)
    assert found is not None
    assert (item.state, item.captured) == ("failed", 0)
    assert (found["reason"], found["code"], found["provider"]) == ("rate_limited", "captcha", "duckduckgo")
    moments = [moment for moment, _, _ in engine.asked]
    assert len(moments) == 3
    # Each rest is longer, as the server saw it.
    assert moments[1] - moments[0] >= 0.12
    assert moments[2] - moments[1] >= 0.18


def test_urls_that_wait_for_a_provider_that_never_stops_blocking_end_with_it(
    start: Start, engine: SearchEngine
) -> None:
    engine.always = "captcha"
    pool = start("duckduckgo", give_up_rounds=3, captcha_minutes="0.002,0.002,0.002,60")

    items = pool.check(*(f"https://e.example/{number}" for number in range(200)))

    # One URL had its three rounds, the next was blocked as well, and the provider rests for an hour from then on.
    assert len(engine.asked) == 4
    assert set(reasons(items)) == {"rate_limited"}
    assert codes(items) == {"captcha"}
    assert {(raw_result_of(item) or {})["provider"] for item in items} == {"duckduckgo"}
    unasked = [found["message"] for item in items if (found := raw_result_of(item)) and "query" not in found]
    assert len(unasked) == 198
    assert set(unasked) == {
        "The URL was not checked: duckduckgo blocks us, so it was not asked this time (the search engine asked for a"
        " captcha). Nothing was charged for it. Name another `engine`, or retry it later."
    }
    engine.always = None
    pool.query("UPDATE search_provider SET open_until = now()")
    assert reasons(pool.check(HERE, GONE)) == ["indexed", "not_indexed"]
    assert not pool.rests("duckduckgo")


def test_a_provider_that_blocks_for_a_while_costs_the_first_url_its_answer_and_no_other(
    start: Start, engine: SearchEngine
) -> None:
    engine.faults.extend(["captcha"] * 5)
    pool = start("duckduckgo", captcha_minutes="0.002")

    items = pool.check(*(f"https://e.example/{number}" for number in range(10)))

    assert reasons(items) == ["rate_limited"] + ["not_indexed"] * 9
    assert len(engine.asked) == 14


def test_of_providers_that_are_out_of_use_one_that_blocks_is_named(start: Start, engine: SearchEngine) -> None:
    engine.broken = {"serper": "403_key", "duckduckgo": "captcha"}
    pool = start("serper,duckduckgo", give_up_rounds=1, captcha_minutes="0.002,60")

    items = pool.check(*(f"https://e.example/{number}" for number in range(4)))

    assert codes(items) == {"captcha"}
    assert {(raw_result_of(item) or {})["provider"] for item in items} == {"duckduckgo"}
    assert [provider for _, provider, _ in engine.asked] == ["serper", "duckduckgo", "duckduckgo"]


@pytest.mark.parametrize(
    ("happens", "rested"),
    [
        # The hours of each rest, below 0 where it is one that nothing waits for.
        ("block block block block", [1, 10, -10, -10]),
        ("block answer block block block", [1, 10, 10, -10]),
        ("block block answer block block block block", [1, 10, 10, 10, -10, -10]),
        ("block block pass block block block", [1, 10, 1, 10, -10]),
        ("block block answer answer block", [1, 10, 1]),
    ],
)
def test_only_rounds_in_a_row_put_a_provider_out_of_use(
    start: Start, engine: SearchEngine, happens: str, rested: list[int]
) -> None:
    pool = start("duckduckgo")
    name = pool.provider("duckduckgo").pace_name
    settings = SearchSettings(captcha_minutes="60,600", give_up_rounds=2)
    found = []
    for event in happens.split():
        if event == "block":
            noted = pool.database.run(note(name, Event.BLOCKED, settings, reason="captcha"))
            assert noted is not None
            assert noted.rest is not None
            hours = 10 if noted.rest >= timedelta(hours=10) else 1
            found.append(-hours if noted.state is State.GIVEN_UP else hours)
            pool.query("UPDATE search_provider SET open_until = now()")
        elif event == "answer":
            pool.database.run(note(name, Event.ANSWERED, settings))
        else:
            pool.query("UPDATE search_provider SET open_until = now() - interval '25 hours'")

    assert found == rested


@pytest.mark.parametrize("interval", [0, 0.05])
def test_a_url_that_one_provider_blocks_and_another_can_not_answer_waits_for_neither(
    start: Start, engine: SearchEngine, interval: float
) -> None:
    engine.broken = {"duckduckgo": "captcha", "bing": "empty"}
    pool = start(interval=interval, give_up_rounds=3, captcha_minutes="0.002,0.002,0.002,60")

    items = pool.check(*(f"https://e.example/{number}" for number in range(6)))

    assert set(reasons(items)) == {"rate_limited"}
    # Nor does anybody else wait, who wants the other one alone.
    engine.broken.pop("bing")
    assert reasons(pool.check(HERE, engine="bing")) == ["indexed"]


def test_an_open_breaker_leaves_waiting_urls_untouched_and_two_good_probes_close_it(
    start: Start, engine: SearchEngine
) -> None:
    pool = start("duckduckgo", slots=4)
    engine.faults.append("captcha")
    job_id = pool.submit(*(f"https://e.example/{number}" for number in range(20)))
    pool.drain(lambda: pool.rests("duckduckgo"))
    wait_until(lambda: pool.query("SELECT count(*) FROM item WHERE state = 'leased'") == 0)
    untouched = {item.id: item.updated_at for item in pool.items(job_id) if item.state == "ready"}
    asked = len(engine.asked)

    pool.runner.drain()
    pool.start().drain()  # another process keeps away as well

    assert len(engine.asked) == asked < 20
    assert {item.id: item.updated_at for item in pool.items(job_id) if item.id in untouched} == untouched
    engine.delay = 0.1
    pool.query("UPDATE search_provider SET open_until = now()")
    pool.drain(lambda: pool.job(job_id).is_final)
    assert set(reasons(pool.items(job_id))) == {"not_indexed"}
    moments = [moment for moment, _, _ in engine.asked[asked:]]
    # One probe at a time, though there are four slots, until two were good.
    assert moments[1] - moments[0] >= engine.delay
    assert moments[2] - moments[1] >= engine.delay
    assert not pool.rests("duckduckgo")


def test_a_good_answer_to_the_only_form_is_one_probe_and_closes_no_breaker(start: Start, engine: SearchEngine) -> None:
    engine.always = "elsewhere"
    pool = start("duckduckgo")
    name = pool.provider("duckduckgo").pace_name
    pool.database.run(note(name, Event.BLOCKED, pool.settings.search, reason="captcha"))
    pool.query("UPDATE search_provider SET open_until = now()")

    pool.check(GONE.ljust(500, "x"))  # quoted it is too long to ask for

    assert len(engine.asked) == 1
    assert pool.database.run(pacing.look([name])).providers[name].state is State.RECOVERING


def test_a_url_that_one_provider_blocks_while_another_is_only_not_due_has_no_round_counted(
    start: Start, engine: SearchEngine
) -> None:
    engine.broken["duckduckgo"] = "captcha"
    pool = start(rounds=1, interval=0.4)
    pool.check(GONE, engine="bing")

    (item,) = pool.check(HERE)

    assert [provider for _, provider, _ in engine.asked] == ["bing", "duckduckgo", "bing"]
    assert reason_of(item) == "indexed"


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_honoured_where_it_is_longer_than_the_ladder(
    start: Start, engine: SearchEngine, form: str
) -> None:
    pool = start("duckduckgo", throttle_minutes="0.01")
    engine.faults.append("429")
    until = datetime.now(UTC) + timedelta(seconds=1_000)
    engine.retry_after = "1000" if form == "seconds" else format_datetime(until, usegmt=True)
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
    feedback = Feedback(pool.settings.search, pool.database, max_brief_limits=2)
    verdict = Verdict("rate_limited", "throttled", rest=timedelta(seconds=1))

    def events(times: int) -> set[Event]:
        return {feedback.note_failure(uuid4(), provider, verdict) for _ in range(times)}

    assert events(2) == {Event.BRIEF_LIMIT}
    feedback.note(provider, Event.ANSWERED)
    assert events(2) == {Event.BRIEF_LIMIT}
    assert not pool.rests("serper")
    assert events(1) == {Event.BLOCKED}
    assert pool.rests("serper")
