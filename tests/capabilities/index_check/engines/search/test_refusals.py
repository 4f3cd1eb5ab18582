"""Refusals of the APIs, as they word them."""

import json
from typing import Any

import pytest

from capabilities.index_check.engines.search import advise
from capabilities.index_check.engines.search.base.provider import Provider, Reply
from capabilities.index_check.engines.search.base.verdict import Verdict, classify
from capabilities.index_check.engines.search.keyed_apis import BraveApi, SerpApi, Serper
from capabilities.index_check.engines.search.result_pages import Bing
from capabilities.index_check.engines.search.searxng import Searxng
from capabilities.index_check.settings import ProviderSettings, SearxngSettings

WITH_KEY = SearxngSettings(url="http://127.0.0.1:9/", api_key="login:secret")
SERPER, SERPAPI, BRAVE, SEARXNG = (provider(WITH_KEY) for provider in (Serper, SerpApi, BraveApi, Searxng))
PAGE = "e.com/a"


def judge(provider: Provider, status: int, said: Any) -> Verdict:
    reply = provider.meaning(Reply(status, provider.url, json.dumps(said).encode()))
    return classify(provider, reply, provider.parse(reply), PAGE)


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
    ],
)  # fmt: skip
def test_a_refusal_is_told_by_what_the_api_says_of_it(provider: Provider, status: int, said: Any, cause: str) -> None:
    assert judge(provider, status, said).cause == cause


@pytest.mark.parametrize(("url", "needs"), [("http://127.0.0.1:9", False), (None, True)])
def test_an_instance_of_ones_own_needs_a_url(url: str | None, needs: bool) -> None:
    said = Searxng(SearxngSettings(url=url)).readiness()

    assert ("PRESSROOM_SEARCH__SEARXNG__URL" in (said or "")) == needs


def test_pages_promise_no_answer_for_google() -> None:
    bing = Bing(ProviderSettings(url=Bing.page))

    assert any("nobody answers for Google" in advice for advice in advise([bing]))


def test_no_provider_of_google_asks_for_what_was_kept_elsewhere() -> None:
    assert SERPAPI.request("site:e.com").query["no_cache"] == "true"


@pytest.mark.parametrize(
    ("provider", "said"),
    [
        (BRAVE, {"type": "search", "web": {"results": [{"link": "https://e.com/a"}]}}),
        (BRAVE, {"type": "search", "web": {"results": "none"}}),
        (SERPER, {"organic": [{"url": "https://e.com/a"}]}),
        (SERPAPI, {"organic_results": [{"url": "https://e.com/a"}],
                   "search_information": {"organic_results_state": "Fully empty"}}),
    ],
)  # fmt: skip
def test_results_in_a_form_that_is_not_known_are_no_negative(provider: Provider, said: dict[str, Any]) -> None:
    assert judge(provider, 200, said).code == "unrecognised_page"
