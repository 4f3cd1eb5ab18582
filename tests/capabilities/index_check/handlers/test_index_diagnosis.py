"""Why not: each cause as a site on loopback, and what is said of it."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any
from uuid import UUID, uuid4

import pytest
from given_task import GivenTask
from index_pools import GONE, HERE, Start, raw_result_of
from search_engine import SearchEngine
from web_server import Answer, WebServer, reply, web_server

from capabilities.index_check.handlers.diagnosis.diagnosing import Diagnosing
from capabilities.index_check.handlers.diagnosis.page import forbidding_headers
from capabilities.index_check.kinds.index_check import UrlInput
from capabilities.index_check.providers.causes import UrlUnchecked
from capabilities.index_check.results.raw_result import RawResult
from pipeline.kind import as_json
from pipeline.settings import Settings
from workers.handler import Done, Failed, Release

WORDS = "Every page has some words that tell its readers, and engines, what it is about; this is one of them. "
HTML = "text/html; charset=utf-8"


def page(head: str = "", body: str = f"<p>{WORDS}</p>") -> bytes:
    return f"<!doctype html><html><head><title>A page</title>{head}</head><body>{body}</body></html>".encode()


@pytest.fixture
def site() -> Iterator[WebServer]:
    with web_server() as server:
        server.serve("/page", page(), HTML)
        yield server


@pytest.fixture
def diagnosing() -> Iterator[Diagnosing]:
    with opened() as made:
        yield made


def opened(**settings: Any) -> "closing[Diagnosing]":
    return closing(Diagnosing(Settings(fetch={"allow_networks": "127.0.0.0/8"}, search={"diagnosis": settings})))


def ask(diagnosing: Diagnosing, url: str, *, job_id: UUID | None = None, **asked: Any) -> Any:
    task = GivenTask(UrlInput(url=url, **{"diagnose": True, **asked}))
    task.job_id = job_id or uuid4()
    done = diagnosing.explain(task, Done(RawResult(reason="not_indexed", code="not_indexed")))
    assert isinstance(done, Done)
    return done.output.diagnosis


#: The pages that the site serves, the causes in order, and words of the sentence.
CASES: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "nothing": ({}, [], "Nothing that we see forbids the page"),
    "gone": ({"/page": ("", 410)}, ["not_found"], "HTTP 410"),
    "forbidden": ({"/page": ("", 403)}, ["refused"], "let them in"),
    "teapot": ({"/page": ("", 418)}, ["http_error"], "HTTP 418"),
    "broken": ({"/page": ("", 503)}, ["server_error"], "a fault of its server"),
    "meta": ({"/page": page('<META NAME="Robots" content="NoIndex, follow">')}, ["noindex"], "to all crawlers (in its"),
    "none": ({"/page": page('<meta name="robots" content="none">')}, ["noindex"], "says none"),
    "googlebot": ({"/page": page('<meta content="noindex" name="googlebot">')}, ["noindex"], "to googlebot"),
    "news": ({"/page": page('<meta name="googlebot-news" content="noindex">')}, [], "Nothing"),
    "noarchive": ({"/page": page('<meta name="robots" content="noarchive, max-snippet:0">')}, [], "Nothing"),
    "canonical": (
        {"/page": page('<link href="/other" rel="canonical">')},
        ["canonical_elsewhere"],
        "/other as canonical",
    ),
    "canonical by base": (
        {"/page": page('<base href="https://b.example/x/"><link rel="nofollow Canonical" href="y">')},
        ["canonical_elsewhere"],
        "https://b.example/x/y",
    ),
    "canonical itself": ({"/page": page('<link rel="canonical" href="/page/?utm_source=x">')}, [], "Nothing"),
    "refresh": (
        {"/page": page('<meta http-equiv="Refresh" content="0; URL=\'/new\'">')},
        ["redirected"],
        "/new, and that is",
    ),
    "scripted": ({"/page": page(body="<div id=app></div><script>words()</script>")}, ["no_text"], "JavaScript"),
    "empty": ({"/page": b""}, ["no_text"], "hardly a word"),
    "robots": ({"/robots.txt": "User-agent: *\nDisallow: /p"}, ["robots_blocked"], "forbids all crawlers"),
    "robots for some": (
        {"/robots.txt": "User-agent: Googlebot\nUser-agent: bingbot\nDisallow: /*age$\nUser-agent: *\nAllow: /"},
        ["robots_blocked"],
        "forbids Googlebot and Bingbot",
    ),
    "robots allows": ({"/robots.txt": "User-agent: *\nDisallow: /\nAllow: /page"}, [], "Nothing"),
    "robots broken": ({"/robots.txt": ("", 500)}, ["robots_unreachable"], "HTTP 500"),
    "robots and noindex": (
        {"/robots.txt": "User-agent: *\nDisallow: /", "/page": page('<meta name="robots" content="noindex">')},
        ["robots_blocked", "noindex"],
        "forbids all",
    ),
    "sitemap without": (
        {"/sitemap.xml": "<urlset><url><loc>/other</loc></url></urlset>"},
        ["not_in_sitemap"],
        "no sitemap",
    ),
    "sitemap with": ({"/sitemap.xml": "<urlset><url><loc>/page/#top</loc></url></urlset>"}, [], "Nothing"),
}


@pytest.mark.parametrize("name", CASES)
def test_each_cause_is_found_and_said(site: WebServer, diagnosing: Diagnosing, name: str) -> None:
    served, causes, words = CASES[name]
    for path, what in served.items():
        if isinstance(what, tuple):
            site.fail(path, what[1])
        else:
            site.serve(path, what if isinstance(what, bytes) else what.encode(), HTML if path == "/page" else "x/y")

    found = ask(diagnosing, site.url("/page"))

    assert (found.causes, words in found.sentence) == (causes, True), found.sentence
    answered = served.get("/page")
    status = answered[1] if isinstance(answered, tuple) else 200
    assert (found.final_url, found.http_status) == (site.url("/page"), status)
    assert as_json(found)["checked_at"].endswith("Z")


def test_headers_forbid_and_name_another_page_as_well(site: WebServer, diagnosing: Diagnosing) -> None:
    site.serve("/file", b"%PDF", "application/pdf", X_Robots_Tag="googlebot: noindex", Link='</b>; rel="canonical"')

    found = ask(diagnosing, site.url("/file"))

    assert found.causes == ["noindex", "canonical_elsewhere", "not_html"]
    assert [as_json(one) for one in found.noindex] == [{"source": "header", "agent": "googlebot", "content": "noindex"}]
    assert found.canonical_url == site.url("/b")
    assert "to googlebot (in the header X-Robots-Tag)" in found.sentence


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["noindex"], [("robots", "noindex")]),
        (["NOINDEX, nofollow"], [("robots", "noindex")]),
        (["googlebot: nofollow", "bingbot: none"], [("bingbot", "none")]),
        (["googlebot: nofollow, noindex, bingbot: noarchive"], [("googlebot", "noindex")]),
        (["otherbot: noindex, nofollow"], []),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"], [("robots", "noindex")]),
        (["max-snippet: 0, max-image-preview:none"], []),
        (["", ",", ":", "no\udcffindex"], []),
    ],
)
def test_x_robots_tag_is_read_in_all_its_forms(values: list[str], found: list[tuple[str, str]]) -> None:
    assert [(one.agent, one.content) for one in forbidding_headers(values)] == found


def test_redirects_are_shown_and_their_end_is_what_may_be_indexed(site: WebServer, diagnosing: Diagnosing) -> None:
    site.redirect("/old", "/older", 301)
    site.redirect("/older", "/page", 302)
    site.redirect("/circle", "/circle")
    site.redirect("/inside", "http://10.0.0.1/secret")

    moved = ask(diagnosing, site.url("/old"))
    assert [(one.url, one.status) for one in moved.redirects] == [(site.url("/old"), 301), (site.url("/older"), 302)]
    assert (moved.causes, moved.final_url, moved.http_status) == (["redirected"], site.url("/page"), 200)
    circle = ask(diagnosing, site.url("/circle"))
    assert (circle.causes, circle.http_status, len(circle.redirects)) == (["redirect_loop"], None, 6)
    assert ask(diagnosing, site.url("/inside")).causes == ["blocked"]
    assert ask(diagnosing, "http://10.0.0.1/").causes == ["blocked"]
    refused = ask(diagnosing, "http://127.0.0.1:1/")
    assert (refused.causes, refused.robots.http_status) == (["unreachable"], None)
    assert "it was refused" in refused.sentence


def test_a_page_that_does_not_come_in_time_is_told_as_such(site: WebServer) -> None:
    site.say("/slow", Answer(reply(200, page()), delay=60))
    with opened(seconds=0.3) as diagnosing:
        found = ask(diagnosing, site.url("/slow"))
        assert (found.causes, "took longer than 0.3 s" in found.sentence) == (["unreachable"], True)


@pytest.mark.parametrize("error", [TimeoutError, RecursionError])
def test_a_failed_diagnosis_changes_nothing(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    async def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Diagnosing, "diagnose", fail)
    task, answer = GivenTask(UrlInput(url=HERE, diagnose=True)), Done(RawResult(reason="not_indexed"))
    with opened() as diagnosing:
        assert diagnosing.explain(task, answer) is answer


def test_robots_and_sitemaps_are_read_once_for_a_job(site: WebServer, diagnosing: Diagnosing) -> None:
    site.serve("/robots.txt", f"Sitemap: {site.url('/index.xml')}\nSitemap: {site.url('/b.xml')}".encode())
    site.serve("/index.xml", b"<sitemapindex><sitemap><loc>/a.xml</loc></sitemap></sitemapindex>")
    site.serve("/a.xml", b"<urlset><url><loc>/page?1</loc></url></urlset>")
    site.serve("/b.xml", b"<urlset><url><loc>/page?2</loc></url></urlset>")
    job_id = uuid4()

    found = [ask(diagnosing, site.url(f"/page?{number}"), job_id=job_id) for number in (1, 2, 3)]

    assert [one.in_sitemap for one in found] == [True, True, False]
    assert [one.sitemap_url for one in found] == [site.url("/a.xml"), site.url("/b.xml"), None]
    assert [path for path in site.asked if "page" not in path] == ["/robots.txt", "/index.xml", "/b.xml", "/a.xml"]
    ask(diagnosing, site.url("/page?1"))
    assert site.asked.count("/robots.txt") == 2  # another job may come after the file was mended


@pytest.mark.parametrize(
    ("limits", "sitemap"),
    [
        ({"sitemap_urls": 1}, b"<urlset><url><loc>/a</loc></url><url><loc>/page</loc></url></urlset>"),
        ({"sitemap_files": 1}, b"<sitemapindex><sitemap><loc>/a.xml</loc></sitemap></sitemapindex>"),
        ({}, b"<sitemapindex><sitemap><loc>/missing.xml</loc></sitemap></sitemapindex>"),
        ({"sitemap_files": 0}, b"<urlset><url><loc>/a</loc></url></urlset>"),
        ({}, b"<html>"),
    ],
)
def test_half_read_sitemaps_claim_nothing(site: WebServer, limits: dict[str, int], sitemap: bytes) -> None:
    site.serve("/sitemap.xml", sitemap)
    with opened(**limits) as diagnosing:
        found = ask(diagnosing, site.url("/page"))
        assert (found.in_sitemap, found.causes) == (None, [])


def test_hostile_pages_harm_nobody(site: WebServer, diagnosing: Diagnosing) -> None:
    pages = {
        "deep": b"<div>" * 100_000,
        "nul": page('<link rel="canonical" href="/a\0b&#0;&#xd800;">'),
        "address": page('<link rel="canonical" href="http://[::1">'),
        "charset": page(),
        "entities": b'<!DOCTYPE html [<!ENTITY a SYSTEM "file:///etc/passwd">]><p>&a;' + WORDS.encode(),
    }
    for name, body in pages.items():
        kind = "text/html; charset=nothing" if name == "charset" else HTML
        found = ask(diagnosing, site.serve(f"/{name}", body, kind))
        assert found is not None, name
        assert "\0" not in str(as_json(found)), name
    assert ask(diagnosing, site.bomb("/bomb", 30_000_000)).http_status == 200


def test_pages_that_are_made_to_cost_are_read_in_little_time_and_room(site: WebServer) -> None:
    # A tree of the first takes minutes.
    pages = {
        "attributes": b"<body " + b" ".join(b"a%d" % number for number in range(200_000)) + b">",
        "texts": b"<body>" + b"<b>" * 250 + b"<i>.</i>" * 200_000,
        "metas": b'<meta name="robots" content="noindex">' * 50_000,
        "others": b"".join(b'<meta name="robots" content="noindex, %d">' % number for number in range(40_000)),
    }
    with opened(seconds=15, sitemap_files=0) as diagnosing:
        found = {
            name: ask(diagnosing, site.serve(f"/{name}", body + page()[15:], HTML)) for name, body in pages.items()
        }

    assert {name: (one.causes, len(one.noindex)) for name, one in found.items()} == {
        "attributes": ([], 0),
        "texts": ([], 0),
        "metas": (["noindex"], 1),
        "others": (["noindex"], 10),
    }


def test_only_what_asks_for_it_and_has_no_good_answer_is_looked_at(site: WebServer, diagnosing: Diagnosing) -> None:
    url = site.url("/page")
    task = GivenTask(UrlInput(url=url, diagnose=True))
    indexed = Done(RawResult(reason="indexed"))

    assert diagnosing.explain(task, indexed) is indexed
    assert diagnosing.explain(task, put_back := Release()) is put_back
    assert ask(diagnosing, url, diagnose=False) is None
    assert ask(diagnosing, "no url", fault="it is none") is None
    assert site.asked == []
    failed = diagnosing.explain(task, Failed(UrlUnchecked("captcha")))
    assert isinstance(failed, Failed)
    assert failed.error.document()["diagnosis"]["http_status"] == 200


def test_records_of_a_job_have_diagnoses_and_cost_no_more(start: Start, engine: SearchEngine) -> None:
    pool = start()
    job_id = pool.submit(HERE, GONE, diagnose=True)
    pool.finish(job_id)

    here, gone = (raw_result_of(item) for item in pool.items(job_id))
    assert "diagnosis" not in here
    assert gone["diagnosis"]["causes"] == ["unreachable"]  # its host is made up
    assert pool.job(job_id).credits_captured == 2
