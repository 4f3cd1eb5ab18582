"""Several search providers: who follows whom, whose index answers, and who is not asked again."""

import pytest
from index_pools import GONE, HERE, Start, codes, raw_result_of, reason_of, reasons
from search_engine import SearchEngine

from capabilities.index_check.providers.causes import advice_on

NO_CREDITS = '400 {"message": "Not enough credits", "statusCode": 400}'
NO_KEY = '422 {"type": "ErrorResponse", "error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "status": 422}}'
FAULTY = '422 {"type": "ErrorResponse", "error": {"code": "VALIDATION", "status": 422}}'
#: The refusal of each API, as it words it.
REFUSALS = [
    ("serper", NO_CREDITS),
    ("brave_api", NO_KEY),
    ("serpapi", '429 {"error": "Your account has run out of searches."}'),
]
MANY = [f"https://e.example/{number}" for number in range(25)]


@pytest.mark.parametrize(("provider", "refusal"), REFUSALS)
def test_an_api_that_refuses_our_key_or_account_is_not_asked_by_every_url(
    start: Start, engine: SearchEngine, provider: str, refusal: str
) -> None:
    engine.always = refusal

    items = start(provider, slots=4).check(*MANY)

    assert codes(items) == {"config"}
    assert sum(item.captured for item in items) == 0
    assert len(engine.asked) <= 4  # those that were on their way


def test_the_next_provider_follows_one_whose_account_is_empty(start: Start, engine: SearchEngine) -> None:
    engine.broken["serper"] = NO_CREDITS
    pool = start("serper,brave_api")

    items = pool.check(HERE, GONE, *MANY)

    assert reasons(items)[:2] == ["indexed", "not_indexed"]
    assert {raw_result_of(item)["index"] for item in items} == {"brave"}
    assert len(engine.queries("serper")) == 1
    assert pool.rests("serper")
    assert pool.query("SELECT reason FROM search_provider WHERE name LIKE 'serper:%'") == "config:credits"


def test_three_faulty_queries_in_a_row_are_enough_for_a_job(start: Start, engine: SearchEngine) -> None:
    pool = start("brave_api")
    engine.faults.append(FAULTY)
    faulty, well = pool.check("https://e.example/faulty", HERE)
    assert (codes([faulty]), reason_of(well)) == ({"request_refused"}, "indexed")

    engine.asked.clear()
    engine.always = FAULTY
    items = pool.check(*MANY)

    assert codes(items) == {"request_refused"}
    assert len(engine.asked) == 3
    assert pool.rests("brave_api") is None


def test_a_request_that_names_an_index_is_answered_from_no_other(start: Start, engine: SearchEngine) -> None:
    engine.broken["serper"] = "404"
    pool = start("duckduckgo,serper,serpapi,bing")

    (item,) = pool.check(HERE, index="google")

    assert [name for _, name, _ in engine.asked] == ["serper", "serpapi"]
    found = raw_result_of(item)
    assert (found["reason"], found["provider"], found["index"]) == ("indexed", "serpapi", "google")

    engine.broken["serpapi"] = "404"
    (item,) = pool.check(GONE, index="google")
    assert (reason_of(item), item.captured) == ("error", 0)
    assert {"duckduckgo", "bing"}.isdisjoint(name for _, name, _ in engine.asked)


def test_an_answer_from_another_index_is_not_used_again(start: Start, engine: SearchEngine) -> None:
    pool = start("duckduckgo,serper")
    pool.check(HERE)

    (item,) = pool.check(HERE, index="google")

    found = raw_result_of(item)
    assert (found["index"], found.get("reused")) == ("google", None)
    assert [name for _, name, _ in engine.asked] == ["duckduckgo", "serper"]


def test_a_url_that_names_an_index_is_not_held_up_by_the_pace_of_another(start: Start, engine: SearchEngine) -> None:
    pool = start("duckduckgo,serper", interval=0.01)
    pool.query("UPDATE search_provider SET next_at = now() + interval '1 hour' WHERE name LIKE 'duckduckgo:%'")

    (item,) = pool.check(HERE, index="google")

    assert reason_of(item) == "indexed"


def test_searxng_answers_from_the_index_of_the_one_engine_that_it_asks(start: Start, engine: SearchEngine) -> None:
    (several,) = start("searxng").check(HERE)
    (alone,) = start("searxng", searxng={"engines": "Google"}).check(HERE, index="google")

    # An answer of several engines is not the answer of one.
    assert [raw_result_of(item)["index"] for item in (several, alone)] == ["mixed", "google"]
    assert len(engine.asked) == 2


@pytest.mark.parametrize(
    ("cause", "provider", "said"),
    [
        ("config:key", "brave_api", "refused our key: check PRESSROOM_SEARCH__BRAVE_API__API_KEY"),
        ("config:credits", "serpapi", "top its account up, or set another PRESSROOM_SEARCH__SERPAPI__API_KEY"),
        ("config", "searxng", "refused us: add `json` to its `formats`"),
        ("captcha", "bing", "the search engine asked for a captcha"),
        ("of a later release", "bing", "the search engine failed"),
    ],
)
def test_an_operator_is_told_what_helps(cause: str, provider: str, said: str) -> None:
    assert advice_on(cause, provider).endswith(said)
