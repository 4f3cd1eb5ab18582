"""The input of index jobs: URLs, bare domains, sitemaps, invalid URLs, and names."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from uuid import UUID, uuid4

import pytest
from falcon.testing import create_asgi_req
from http_service import Answer, Service
from payers import Payer, open_account
from web_server import Answer as WebAnswer
from web_server import WebServer, reply, web_server

from api.http.request_context import SCOPE_KEY, RequestContext
from api.work.work import Work
from capabilities.index_check.kinds.index_check import IndexCheck, UrlInput
from capabilities.index_check.requests.request import FAULTY_LANE, IndexCheckRequest
from pipeline.accounts.keys import Caller
from pipeline.database import Database
from pipeline.kind import NewItem
from pipeline.lifecycle import claim
from pipeline.offers.offers import Offers
from pipeline.settings import Settings

A, B = "https://example.org/a", "https://example.org/b"


@pytest.fixture
def client(api_database: Database) -> Payer:
    return open_account(api_database, credits=100)


@pytest.fixture(scope="module")
def site() -> Iterator[WebServer]:
    with web_server() as server:
        yield server


@pytest.fixture(scope="module")
def service(open_service: Service) -> Service:
    """An API that reads sitemaps from loopback."""
    return open_service


def create(service: Service, client: Payer, **fields: object) -> Answer:
    return service.post("/indexing/jobs", {"type": "check", **fields}, client.api_key)


def records(service: Service, client: Payer, answer: Answer) -> list[dict]:
    assert answer.status == 201, answer.json
    found: list[dict] = service.get(f"/indexing/jobs/{answer.json['job_id']}/urls", client.api_key).json
    return found


def held(service: Service, client: Payer, answer: Answer) -> int:
    return int(service.get(f"/jobs/{answer.json['job_id']}", client.api_key).json["credits"]["held"])


def urlset(*pages: str) -> bytes:
    return f"<urlset>{''.join(f'<url><loc>{page}</loc></url>' for page in pages)}</urlset>".encode()


def test_the_record_shows_what_a_bare_domain_was_made_of(service: Service, client: Payer) -> None:
    answer = create(service, client, urls=["example.org/a", A, B, "example.org/b"])

    shown = [(record["url"], record["sent_url"]) for record in records(service, client, answer)]
    assert shown == [(A, "example.org/a"), (B, None)]
    assert (answer.json["total_urls"], held(service, client, answer)) == (2, 2)


def test_wrong_urls_are_refused_or_skipped(service: Service, client: Payer, api_database: Database) -> None:
    urls = [A, "not a url", B, "ftp://example.org/", "not a url"]

    refused = create(service, client, urls=urls)
    assert (refused.status, refused.code, refused.json["invalid_urls"]) == (400, "urls_invalid", 3)
    assert [detail["field"] for detail in refused.json["details"]] == ["urls.1", "urls.3", "urls.4"]
    assert len(create(service, client, urls=["no url"] * 30).json["details"]) == 20
    assert "skip_invalid" in refused.json["message"]

    answer = create(service, client, urls=urls, skip_invalid=True)
    assert [record["url"] for record in records(service, client, answer)] == [A, "not a url", B, "ftp://example.org/"]
    assert (answer.json["total_urls"], held(service, client, answer)) == (4, 2)
    ready = api_database.run(claim({FAULTY_LANE: 10}, lease_for=timedelta(seconds=30)))
    mine = [item for item in ready if item.job_id == UUID(answer.json["job_id"])]
    assert [(item.input["url"], item.price) for item in mine] == [("not a url", 0), ("ftp://example.org/", 0)]
    assert "space" in mine[0].input["fault"]


def test_a_job_is_found_by_its_name(service: Service, client: Payer) -> None:
    named = create(service, client, urls=[A], name="Spring, 2027: shop").json["job_id"]
    create(service, client, urls=[A])

    assert service.get(f"/indexing/jobs/{named}", client.api_key).json["name"] == "Spring, 2027: shop"
    page = service.get("/indexing/jobs?name=Spring,%202027:%20shop", client.api_key)
    assert [(job["id"], job["name"]) for job in page.json] == [(named, "Spring, 2027: shop")]
    assert page.headers["x-total-count"] == "1"
    assert [job["name"] for job in service.get("/indexing/jobs", client.api_key).json] == [None, "Spring, 2027: shop"]
    assert service.get(f"/jobs/{named}", client.api_key).json["name"] == "Spring, 2027: shop"
    for wrong in ("", "x" * 201, "a\nb", 1):
        assert create(service, client, urls=[A], name=wrong).code == "invalid_request", wrong
    assert create(service, client, urls=[A], name="é" * 200).status == 201


def test_without_urls_or_a_sitemap_there_is_nothing_to_check(service: Service, client: Payer) -> None:
    for fields in ({}, {"urls": []}):
        answer = create(service, client, **fields)
        assert (answer.status, answer.code, answer.json["details"][0]["field"]) == (400, "invalid_request", "urls")


def test_a_sitemap_stands_for_its_pages(service: Service, client: Payer, site: WebServer) -> None:
    site.serve("/one.xml", urlset(A, B))
    site.serve("/two.xml", urlset(B, "https://example.org/c"))
    index = "<sitemapindex><sitemap><loc>/one.xml</loc></sitemap><sitemap><loc>/two.xml</loc></sitemap></sitemapindex>"
    url = site.serve("/sitemap.xml", index.encode())

    answer = create(service, client, sitemap_url=url, name="all")

    assert [record["url"] for record in records(service, client, answer)] == [A, B, "https://example.org/c"]
    assert (answer.json["total_urls"], held(service, client, answer)) == (3, 3)
    job = service.get(f"/indexing/jobs/{answer.json['job_id']}", client.api_key).json
    assert (job["sitemap_url"], job["name"]) == (url, "all")


def test_an_unusable_sitemap_is_refused_and_free(service: Service, client: Payer, site: WebServer) -> None:
    site.fail("/gone", 410)
    many = urlset(*(f"https://example.org/{number}" for number in range(10_001)))
    cases = {
        site.url("/gone"): ("sitemap_unreachable", "HTTP 410"),
        site.serve("/page", b"<html></html>"): ("sitemap_invalid", "web page"),
        site.serve("/none", urlset()): ("sitemap_invalid", "no page"),
        site.serve("/many", many): ("sitemap_too_large", "10,000"),
        site.serve("/ftp", urlset(A, "ftp://example.org/")): ("urls_invalid", "ftp://"),
        "http://10.0.0.1/sitemap.xml": ("sitemap_blocked", "not a public one"),
        "sitemap.xml": ("sitemap_url_invalid", "http://"),
    }
    for url, (code, words) in cases.items():
        answer = create(service, client, sitemap_url=url)
        assert (answer.status, answer.code, words in answer.json["message"]) == (400, code, True), answer.json
    assert create(service, client, sitemap_url=site.url("/none"), urls=[A]).code == "invalid_request"
    answer = create(service, client, sitemap_url=site.url("/ftp"), skip_invalid=True)
    assert (answer.json["total_urls"], answer.headers["x-credits-remaining"]) == (2, "99")


def test_a_repeated_request_is_the_same_job(service: Service, client: Payer, site: WebServer) -> None:
    url = site.serve("/changing", urlset(A))
    body = {"type": "check", "sitemap_url": url}
    first = service.post("/indexing/jobs", body, client.api_key, Idempotency_Key="once")
    site.fail("/changing", 404)

    again = service.post("/indexing/jobs", body, client.api_key, Idempotency_Key="once")
    other = service.post("/indexing/jobs", {**body, "fresh": True}, client.api_key, Idempotency_Key="once")

    assert (first.status, again.status, again.json) == (201, 201, first.json)
    assert (other.status, other.code) == (400, "sitemap_unreachable")
    site.serve("/changing", urlset(B))
    other = service.post("/indexing/jobs", {**body, "fresh": True}, client.api_key, Idempotency_Key="once")
    assert (other.status, other.code) == (422, "idempotency_key_reused")


def test_slow_sitemaps_hold_up_nobody_else(service: Service, client: Payer, site: WebServer) -> None:
    slow = [site.say(f"/slow{number}", WebAnswer(reply(200, urlset(A)))) for number in range(2)]
    site.forget()
    site.together = 3  # none is answered before there is a third, which is not let in
    answers: list[Answer] = []
    threads = [
        threading.Thread(target=lambda url=url: answers.append(create(service, client, sitemap_url=url)))
        for url in slow
    ]
    for thread in threads:
        thread.start()
    while len(site.asked) < 2 and not answers:
        service.get("/indexing/jobs", client.api_key)  # the service answers meanwhile

    third = create(service, client, sitemap_url=site.url("/slow0"))
    assert (third.status, third.code, third.headers["retry-after"]) == (429, "too_many_sitemaps", "10")
    site.together = 0
    for thread in threads:
        thread.join()
    assert [answer.status for answer in answers] == [201, 201]
    assert create(service, client, sitemap_url=site.url("/slow0")).status == 201


def test_many_urls_are_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    read_in: list[threading.Thread] = []

    class Watched(IndexCheck):
        def items(self, request: IndexCheckRequest) -> list[NewItem[UrlInput]]:
            read_in.append(threading.current_thread())
            return super().items(request)

    class NoOffers:
        async def offers(self) -> Offers:
            return Offers()

    services = SimpleNamespace(settings=Settings(), large_requests=asyncio.Semaphore(1), offer_cache=NoOffers())
    req = create_asgi_req()
    req.scope[SCOPE_KEY] = RequestContext("id", "POST", "/indexing/jobs")
    caller = Caller(account_id=uuid4(), api_key_id=uuid4(), tier="free")
    work = Work(services, Watched(), "/indexing/jobs")  # type: ignore[arg-type]
    request = IndexCheckRequest(type="check", urls=["https://пример.example/"])

    upload = SimpleNamespace(job_id=uuid4(), hashes={}, names={})
    order = asyncio.run(work._order_of(req, caller, request, upload))  # type: ignore[arg-type]

    assert len(order.submission.items) == 1
    assert read_in
    assert threading.main_thread() not in read_in
