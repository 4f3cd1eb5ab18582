"""The verdict table, row by row, on pages of our own, and what surrounds it: near matches, rests, addresses."""

import base64
import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from capabilities.index_check.engines.search.base.provider import Reading, Reply
from capabilities.index_check.engines.search.base.verdict import Verdict, classify, match
from capabilities.index_check.engines.search.keyed_apis import BraveApi, SerpApi, Serper
from capabilities.index_check.engines.search.result_pages import Bing, DuckDuckGo, unwrap
from capabilities.index_check.engines.search.searxng import Searxng
from capabilities.index_check.settings import ProviderSettings, SearchSettings, SearxngSettings
from pipeline.errors import NotReady
from pipeline.settings import Settings
from workers.engines.registry import load_engines

URL, PAGE = "https://e.com/a", "e.com/a"
SETTINGS = SearchSettings()
WITH_KEY = ProviderSettings(url="http://127.0.0.1:9/", api_key="secret")
DDG, BING = DuckDuckGo(SETTINGS.duckduckgo), Bing(SETTINGS.bing)
SEARXNG = Searxng(SearxngSettings(url="http://127.0.0.1:9/"))
BRAVE, SERPER, SERPAPI = BraveApi(WITH_KEY), Serper(WITH_KEY), SerpApi(WITH_KEY)


def ddg_page(*rows: str, also: str = "") -> str:
    links = "".join(
        f'<div class="result web-result"><h2><a class="result__a" href="{row}">t</a></h2></div>' for row in rows
    )
    return f'<html><body><div id="links">{links}</div>{also}</body></html>'


def bing_page(*rows: str, also: str = "") -> str:
    links = "".join(f'<li class="b_algo"><h2><a href="{row}">t</a></h2></li>' for row in rows)
    return f'<html><body><ol id="b_results">{also}{links}</ol></body></html>'


def judge(
    provider, body: object = "", status: int = 200, *, is_operator=True, url="", location="", **headers: str
) -> Verdict:
    text = body if isinstance(body, str) else json.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    reply = Reply(status, url or provider.url, text.encode(), location, named)
    return classify(provider, reply, provider.parse(reply), PAGE, is_operator=is_operator)


CHALLENGE = '<form id="challenge-form"><div class="anomaly-modal__title">x</div></form>'
UNUSUAL = "<p>Our systems have detected unusual traffic from your computer network.</p>"

#: row of the table, provider, page, status, more, reason, code
ROWS = [
    (2, DDG, "", 302, {"location": "https://duckduckgo.com/sorry/index?q=x"}, "rate_limited", "captcha"),
    (2, DDG, "", 200, {"url": "https://duckduckgo.com/sp/captcha"}, "rate_limited", "captcha"),
    (3, BING, "", 429, {}, "rate_limited", "throttled"),
    (3, DDG, ddg_page(), 202, {}, "rate_limited", "throttled"),
    (3, DDG, ddg_page(), 418, {}, "rate_limited", "throttled"),
    (3, DDG, ddg_page(also=CHALLENGE), 202, {}, "rate_limited", "captcha"),
    (6, DDG, ddg_page("//duckduckgo.com/l/?uddg=https%3A%2F%2Fwww.e.com%2Fa%2F"), 200, {}, "indexed", "match"),
    (6, BING, bing_page(URL), 200, {}, "indexed", "match"),
    (6, SERPER, {"organic": [{"link": URL}]}, 200, {}, "indexed", "match"),
    (6, BRAVE, {"type": "search", "web": {"results": [{"url": URL}]}}, 200, {}, "indexed", "match"),
    (6, SERPAPI, {"organic_results": [{"link": URL}]}, 200, {}, "indexed", "match"),
    (6, SEARXNG, {"results": [{"url": URL}]}, 200, {}, "indexed", "match"),
    # The words of a challenge on an ordinary page are words.
    (6, BING, bing_page(URL, also=UNUSUAL), 200, {}, "indexed", "match"),
    (7, BING, bing_page("https://www.bing.com/ck/a?u=zz", "https://o.net/"), 200, {}, "error", "opaque_links"),
    (8, BING, bing_page("https://o.net/", "https://e.com.o.net/a"), 200, {}, "error", "operator_ignored"),
    (8, BING, bing_page("https://o.net/", also=UNUSUAL), 200, {}, "error", "operator_ignored"),
    (8, SERPER, {"organic": [{"link": "https://o.net/"}]}, 200, {}, "error", "operator_ignored"),
    (9, BING, bing_page("https://e.com/b"), 200, {}, "not_indexed", "no_match"),
    (9, BING, bing_page("https://shop.e.com/a"), 200, {}, "not_indexed", "no_match"),
    (9, BING, bing_page("https://o.net/"), 200, {"is_operator": False}, "not_indexed", "no_match"),
    (9, BING, bing_page("https://e.com/a/b", also=UNUSUAL), 200, {}, "not_indexed", "no_match"),
    (9, SEARXNG, {"results": [{"url": "https://e.com/b"}], "unresponsive_engines": [["brave", "timeout"]]}, 200, {},
     "error", "engines_blocked"),
    (10, DDG, ddg_page(also=CHALLENGE), 200, {}, "rate_limited", "captcha"),
    (10, DDG, ddg_page(also=CHALLENGE), 403, {}, "rate_limited", "captcha"),
    (10, BING, '<div class="captcha">One last step</div>', 200, {}, "rate_limited", "captcha"),
    (10, BING, UNUSUAL, 503, {}, "rate_limited", "captcha"),
    (10, SEARXNG, {"results": [], "unresponsive_engines": [["brave", "too many requests"]]}, 200, {},
     "error", "engines_blocked"),
    (11, BING, "Error 403", 403, {}, "error", "http_403"),
    (11, BING, "", 502, {}, "error", "http_502"),
    (11, BING, "", 404, {}, "error", "http_404"),
    (11, BING, "", 301, {"location": "https://elsewhere.example/"}, "error", "http_301"),
    (13, DDG, ddg_page(also='<div class="no-results">No  results.</div>'), 200, {}, "not_indexed", "no_results"),
    (13, BING, bing_page("https://o.net/", also='<li class="b_no">There are no results for</li>'), 200, {},
     "not_indexed", "no_results"),
    (13, SERPER, {"organic": []}, 200, {}, "not_indexed", "no_results"),
    (13, BRAVE, {"type": "search"}, 200, {}, "not_indexed", "no_results"),
    (13, SEARXNG, {"results": [], "unresponsive_engines": []}, 200, {}, "not_indexed", "no_results"),
    (13, SERPAPI, {"search_information": {"organic_results_state": "Fully empty"}}, 200, {},
     "not_indexed", "no_results"),
    (14, DDG, "", 200, {}, "error", "unrecognised_page"),
    (14, BING, "<html><body>hello</body></html>", 200, {}, "error", "unrecognised_page"),
    (14, SERPER, "{", 200, {}, "error", "unrecognised_page"),
    (14, SERPER, {}, 200, {}, "error", "unrecognised_page"),
    (14, SEARXNG, {"results": "none"}, 200, {}, "error", "unrecognised_page"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "provider", "page", "status", "more", "reason", "code"), ROWS)
def test_the_verdict_table(row, provider, page, status, more, reason, code) -> None:
    verdict = judge(provider, page, status, **more)

    assert (verdict.reason, verdict.code) == (reason, code)


def test_no_reply_is_an_error_of_transport() -> None:
    verdict = classify(DDG, None, Reading(), PAGE)

    assert (verdict.reason, verdict.code) == ("error", "transport")


@pytest.mark.parametrize(
    ("row", "relation"),
    [
        ("https://m.e.com/a", "variant"),
        ("https://e.com/A", "variant"),
        ("https://e.com/a/amp", "variant"),
        ("https://e-com.cdn.ampproject.org/c/s/e.com/a", "variant"),
        ("https://e.com/a/b", "deeper"),
        ("https://e.com/ab", None),
        ("https://e.com.evil.net/a", None),
    ],
)
def test_near_matches_are_told_and_taken_only_when_that_is_wanted(row: str, relation: str | None) -> None:
    found = match([row], PAGE)

    assert found.url is None
    assert found.near == (((row, relation),) if relation else ())


def test_the_lite_pages_of_duckduckgo_are_read_without_their_ads() -> None:
    row = "<tr{kind}><td>1.</td><td><a rel='nofollow' class='result-link' href='{href}'>t</a></td></tr>"
    wrapped = "//duckduckgo.com/l/?uddg=https%3A%2F%2Fwww.e.com%2Fa%2F&amp;rut=x"
    listed = row.format(kind="", href=wrapped)
    sponsored = row.format(kind=" class='result-sponsored'", href=URL)

    assert judge(DDG, f"<table>{sponsored}{listed}</table>").match.url == "https://www.e.com/a/"
    assert judge(DDG, f"<table>{sponsored}</table>").code == "unrecognised_page"


def test_wrapped_addresses_are_unwrapped_and_ads_are_none() -> None:
    encoded = base64.urlsafe_b64encode(URL.encode()).decode().rstrip("=")
    assert unwrap(f"https://www.bing.com/ck/a?!&u=a1{encoded}&ntb=1") == URL
    assert unwrap("https://www.bing.com/ck/a?u=zz") == ""
    assert unwrap("https://duckduckgo.com/y.js?ad_domain=e.com&u3=x") is None
    assert unwrap("javascript:void(0)") is None
    assert unwrap("https://notduckduckgo.com/about") == "https://notduckduckgo.com/about"
    assert unwrap("https://climbing.com/ck/a?u=zz") == "https://climbing.com/ck/a?u=zz"


@pytest.mark.parametrize("href", ["http://[bad", "//[::1", "http://\u2100.com/", "http://e.com:x/", "", "\x00"])
def test_an_address_that_is_none_spoils_no_other_row(href: str) -> None:
    for provider, page in ((DDG, ddg_page(href, URL)), (BING, bing_page(href, URL))):
        assert judge(provider, page).reason == "indexed"
    for provider, rows in ((SERPER, "organic"), (SERPAPI, "organic_results"), (SEARXNG, "results")):
        links = [{"url": row, "link": row} for row in (href, URL)]
        assert judge(provider, {rows: links, "search_information": [], "unresponsive_engines": 1}).reason == "indexed"


@pytest.mark.parametrize("row", ["https://e.com/a/\x00", "https://e.com/a/\ud800", "\x00https://e.com/a/b"])
def test_a_row_that_no_database_takes_is_no_row(row: str) -> None:
    assert match([row, f"https://e.com/a/{'x' * 5_000}"], PAGE) == match([], PAGE)


def test_a_page_made_to_take_long_does_not() -> None:
    began = time.process_time()
    judge(DDG, "<div id=links>" + "<div><a class=result__a href='http://x.example/'>" * 8_000)
    assert time.process_time() - began < 15  # one or two; without limits it would be a minute


def test_rests_are_read_from_seconds_dates_and_resets() -> None:
    now = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

    def rest(**headers: str) -> timedelta:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Reply(429, "", headers=named).retry_after(now=now)

    assert rest(retry_after="120") == timedelta(minutes=2)
    assert rest(retry_after="Fri, 20 Nov 2026 12:05:00 GMT") == timedelta(minutes=5)
    assert rest(retry_after="Fri, 20 Nov 2020 12:05:00 GMT") == timedelta()
    assert rest(retry_after="soon") == timedelta()
    assert rest(x_ratelimit_reset="1, 1419704") == timedelta(seconds=1)
    assert rest(x_ratelimit_reset="1, 1419704", x_ratelimit_remaining="0, 1985") == timedelta(seconds=1)
    assert rest(x_ratelimit_reset="1, 1419704", x_ratelimit_remaining="1, 0") == timedelta(seconds=1_419_704)
    assert rest(x_ratelimit_reset="1, 1419704", x_ratelimit_remaining="0, 0") == timedelta(seconds=1_419_704)
    assert rest(x_ratelimit_reset="soon, 1", x_ratelimit_remaining="0") == timedelta()
    assert rest(x_ratelimit_reset="9" * 5_000) == timedelta()


def test_queries_are_short_enough_and_proofs_hold_no_key() -> None:
    assert DDG.queries(URL) == ["site:e.com/a", '"https://e.com/a"']
    # Without what engines leave out of a page's address or not, as they like.
    assert DDG.queries("https://www.e.com/a/?id=7/") == ["site:e.com/a/?id=7/", '"https://www.e.com/a/?id=7/"']
    assert DDG.queries("https://www.e.com/")[0] == "site:e.com"
    assert BING.queries(URL) == ["site:e.com/a", "url:https://e.com/a"]
    assert DDG.queries(URL + "x" * 500) == []
    assert BING.queries(URL + "x" * 2_030) == []
    for provider in (BRAVE, SERPER, SERPAPI):
        assert "secret" not in provider.proof_url("site:e.com")


def test_the_order_of_providers_is_as_set_or_what_is_there() -> None:
    assert SearchSettings(providers="bing,duckduckgo").engines == "bing,duckduckgo"
    assert SearchSettings().engines == "duckduckgo,bing"
    assert SearchSettings(searxng=SearxngSettings(url="http://127.0.0.1:9/")).engines == "searxng,duckduckgo,bing"
    # Google's index first, then what answers from others; those that want no key come last.
    keyed = dict.fromkeys(("brave_api", "serpapi", "serper"), WITH_KEY)
    assert SearchSettings(**keyed, searxng=SearxngSettings(url="http://127.0.0.1:9/")).engines == (
        "serper,serpapi,brave_api,searxng,duckduckgo,bing"
    )
    assert SearchSettings(serper=ProviderSettings(url="http://127.0.0.1:9/", api_key="")).engines == "duckduckgo,bing"


@pytest.mark.parametrize("minutes", ["", "abc", "15,,60", "0,15", "-1", "nan", "inf"])
def test_a_ladder_of_rests_that_is_none_is_refused_with_the_setting(minutes: str) -> None:
    with pytest.raises(ValidationError, match="minutes above 0"):
        SearchSettings(captcha_minutes=minutes)


def test_an_unknown_provider_is_named_with_its_setting() -> None:
    with pytest.raises(NotReady, match="PRESSROOM_SEARCH__PROVIDERS names 'altavista'"):
        load_engines(Settings(search={"providers": "bing,altavista"}), "search")
