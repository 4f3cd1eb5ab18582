"""Refusals of the APIs, as they word them, and DataForSEO, which answers 200 whatever became of a search."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest

from capabilities.index_check.engines.search import advise
from capabilities.index_check.engines.search.base.provider import Provider, Reply
from capabilities.index_check.engines.search.base.verdict import Verdict, classify
from capabilities.index_check.engines.search.dataforseo import DataForSeo
from capabilities.index_check.engines.search.keyed_apis import BraveApi, SerpApi, Serper
from capabilities.index_check.engines.search.result_pages import Bing
from capabilities.index_check.engines.search.searxng import Searxng
from capabilities.index_check.settings import ProviderSettings, SearxngSettings

WITH_KEY = SearxngSettings(url="http://127.0.0.1:9/", api_key="login:secret")
SERPER, SERPAPI, BRAVE, DATAFORSEO, SEARXNG = (
    provider(WITH_KEY) for provider in (Serper, SerpApi, BraveApi, DataForSeo, Searxng)
)
PAGE = "e.com/a"


def judge(provider: Provider, status: int, said: Any) -> Verdict:
    reply = provider.meaning(Reply(status, provider.url, json.dumps(said).encode()))
    return classify(provider, reply, provider.parse(reply), PAGE)


def task(code: int, **more: Any) -> dict[str, Any]:
    return {"status_code": 20000, "tasks": [{"status_code": code, **more}]}


def brave(code: str, **more: Any) -> dict[str, Any]:
    return {"type": "ErrorResponse", "error": {"status": 422, "code": code, **more}}


@pytest.mark.parametrize(
    ("provider", "status", "said", "cause"),
    [
        (SERPER, 400, {"message": "Not enough credits", "statusCode": 400}, "config:credits"),
        (SERPER, 403, {"message": "Unauthorized.", "statusCode": 403}, "config:key"),
        (SERPER, 400, {"message": "Query pattern not allowed for free accounts.", "statusCode": 400},
         "request_refused"),
        (SERPER, 429, {"message": "Too many requests"}, "throttled"),
        (SERPAPI, 401, {"error": "Invalid API key. Your API key should be here: …"}, "config:key"),
        (SERPAPI, 400, {"error": "Missing query `q` parameter."}, "request_refused"),
        (SERPAPI, 429, {"error": "Your account has run out of searches."}, "config:credits"),
        (SERPAPI, 429, {"error": "You are exceeding 200 searches per hour."}, "throttled"),
        (SERPAPI, 403, {}, "config:key"),
        (BRAVE, 422, brave("SUBSCRIPTION_TOKEN_INVALID", detail="The provided subscription token is invalid."),
         "config:key"),
        # A faulty query has the same status, and repeats the query, whatever it says.
        (BRAVE, 422, brave("VALIDATION", meta={"errors": [{"loc": ["query", "q"],
         "input": "site:e.com/subscription_token_invalid"}]}), "request_refused"),
        (BRAVE, 403, brave("QUOTA_LIMITED"), "throttled"),
        (BRAVE, 402, brave("USAGE"), "config:credits"),
        (BRAVE, 401, "no object", "config:key"),
        (SEARXNG, 403, "Forbidden", "config"),
        (SEARXNG, 400, {}, "request_refused"),
        (DATAFORSEO, 401, {"status_code": 40100, "status_message": "You are not authorized."}, "config:key"),
        (DATAFORSEO, 402, {"status_code": 40200, "status_message": "Payment Required."}, "config:credits"),
        (DATAFORSEO, 200, {"status_code": 40100}, "config:key"),
        (DATAFORSEO, 200, {"status_code": 40200}, "config:credits"),
        (DATAFORSEO, 200, task(40104), "config:key"),
        (DATAFORSEO, 200, task(40203), "config:credits"),
        (DATAFORSEO, 200, task(40207), "config:key"),
        (DATAFORSEO, 200, task(40210), "config:credits"),
        (DATAFORSEO, 200, task(40202), "throttled"),
        (DATAFORSEO, 200, task(40209), "throttled"),
        (DATAFORSEO, 200, task(40501, status_message="Invalid Field: 'keyword'."), "request_refused"),
        (DATAFORSEO, 200, task(40101), "http_502"),
        (DATAFORSEO, 200, task(40103), "http_503"),
        (DATAFORSEO, 200, task(50000), "http_500"),
        (DATAFORSEO, 200, task(40102, result=None), "no_results"),
        (DATAFORSEO, 200, task(20000, result=[{"items_count": 0, "items": []}]), "no_results"),
        (DATAFORSEO, 200, task(20000, result=[{"items_count": 0, "items": None}]), "no_results"),
        (DATAFORSEO, 200, task(20000, result=None), "unrecognised_page"),
        (DATAFORSEO, 200, {"status_code": 20000, "tasks": None}, "unrecognised_page"),
        (DATAFORSEO, 200, {"status_code": "20000"}, "unrecognised_page"),
        (DATAFORSEO, 200, [], "unrecognised_page"),
    ],
)  # fmt: skip
def test_a_refusal_is_told_by_what_the_api_says_of_it(provider: Provider, status: int, said: Any, cause: str) -> None:
    assert judge(provider, status, said).cause == cause


def test_only_organic_rows_of_dataforseo_count() -> None:
    def found(kind: str) -> str:
        items = [{"type": kind, "url": "https://e.com/a"}, {"type": "organic", "url": "https://e.com/b"}]
        return judge(DATAFORSEO, 200, task(20000, result=[{"items": items}])).code

    assert [found(kind) for kind in ("organic", "featured_snippet", "paid", "people_also_ask")] == [
        "match",
        "match",
        "no_match",
        "no_match",
    ]


def test_dataforseo_is_asked_with_login_and_password_and_reads_the_query_as_it_is() -> None:
    request = DATAFORSEO.request("site:e.com/caf%C3%A9+x")

    (sent,) = request.json or ()
    assert sent["keyword"] == "site:e.com/caf%25C3%25A9%2Bx"
    assert sent["group_organic_results"] is False
    assert base64.b64decode(request.headers["Authorization"].removeprefix("Basic ")) == b"login:secret"
    # The limit counts the query as it is sent.
    assert len(DATAFORSEO.queries(f"https://e.com/{'a' * 600}")) == 2
    assert DATAFORSEO.queries(f"https://e.com/{'%C3%A9' * 80}") == []


@pytest.mark.parametrize(("key", "needs"), [("login:secret", False), ("secret", True), (None, True)])
def test_dataforseo_needs_a_login_and_a_password(key: str | None, needs: bool) -> None:
    said = DataForSeo(ProviderSettings(url="http://127.0.0.1:9/", api_key=key)).readiness()

    assert ("login:password" in said) if needs and said else not needs and said is None


@pytest.mark.parametrize(("url", "needs"), [("http://127.0.0.1:9", False), (None, True)])
def test_an_instance_of_ones_own_needs_a_url(url: str | None, needs: bool) -> None:
    said = Searxng(SearxngSettings(url=url)).readiness()

    assert ("PRESSROOM_SEARCH__SEARXNG__URL" in (said or "")) == needs


def test_pages_promise_no_answer_for_google() -> None:
    bing = Bing(ProviderSettings(url=Bing.page))

    assert any("nobody answers for Google" in advice for advice in advise([bing]))


def test_a_limit_of_dataforseo_is_one_of_a_minute() -> None:
    assert judge(DATAFORSEO, 200, task(40202)).rest == timedelta(minutes=1)


def test_no_provider_of_google_asks_for_what_was_kept_elsewhere() -> None:
    assert SERPAPI.request("site:e.com").query["no_cache"] == "true"


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        (BRAVE, {"type": "search", "web": {"results": [{"link": "https://e.com/a"}]}}),
        (BRAVE, {"type": "search", "web": {"results": "none"}}),
        (DATAFORSEO, task(20000, result=[{"items": [{"type": "organic", "link": "https://e.com/a"}]}])),
        (SERPER, {"organic": [{"url": "https://e.com/a"}]}),
        (SERPAPI, {"organic_results": [{"url": "https://e.com/a"}],
                   "search_information": {"organic_results_state": "Fully empty"}}),
    ],
)  # fmt: skip
def test_results_in_a_form_that_is_not_known_are_no_negative(provider: Provider, said: dict[str, Any]) -> None:
    assert judge(provider, 200, said).code == "unrecognised_page"
