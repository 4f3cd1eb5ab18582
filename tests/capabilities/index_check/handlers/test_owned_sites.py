"""URLs of connected sites: Search Console is asked first, at its pace, and the others when it does not tell."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from index_pools import Pool, Start, raw_result_of
from payers import Payer, open_account
from search_engine import SearchEngine
from site_services import EMAIL, INDEXED, SiteServices, site_services

from capabilities.index_check.results.jobs import OWNED_LANE
from capabilities.index_check.sites import connections, site_quota
from capabilities.index_check.sites.connections import SEARCH_CONSOLE, OwnedSite
from pipeline.accounts.secret_box import SecretBox
from pipeline.database import Database
from pipeline.lifecycle.jobs import Item

DOMAIN, PREFIX, BLOG = "sc-domain:e.example", "https://e.example/", "https://e.example/blog/"
PAGE, HERE, POST = "https://e.example/page", "https://e.example/here", "https://e.example/blog/post"


@pytest.fixture(scope="session")
def shared_services() -> Iterator[SiteServices]:
    with site_services() as services:
        yield services


@pytest.fixture
def services(
    shared_services: SiteServices, index_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SiteServices]:
    shared_services.reset()
    for name, value in shared_services.environment().items():
        monkeypatch.setenv(name, value)
    yield shared_services
    with psycopg.connect(index_database_url, autocommit=True) as connection:
        for table in ("site_connection", "site_quota"):
            connection.execute(f"DELETE FROM {table}")


@pytest.fixture
def payer(database: Database, services: SiteServices) -> Payer:
    return open_account(database)


def check(pool: Pool, *urls: str, payer: Payer | None = None, **fields: Any) -> list[dict[str, Any]]:
    """Have URLs checked, and return what their records say."""
    return [shown(item) for item in pool.check(*urls, payer=payer, **fields)]


def shown(item: Item) -> dict[str, Any]:
    return {**raw_result_of(item), "credits": item.captured}


def google(pool: Pool, services: SiteServices, *sites: str, payer: Payer | None = None) -> UUID:
    """Connect sites as the command does."""
    sealed = SecretBox(pool.settings).seal(json.dumps(services.service_account()).encode())
    account = (payer or pool.payer).account_id
    made = pool.database.run(connections.connect(account, EMAIL, sealed, sites or (DOMAIN,)))
    assert made is not None
    return made


@pytest.fixture
def connected(start: Start, services: SiteServices) -> Start:
    """A function that starts a pool whose account has connected sites to Search Console."""

    def make(providers: str = "duckduckgo,bing", *sites: str, **search: Any) -> Pool:
        pool = start(providers, **search)
        google(pool, services, *sites)
        return pool

    return make


def test_google_alone_is_asked_about_an_own_page(
    connected: Start, services: SiteServices, engine: SearchEngine
) -> None:
    pool = connected()
    services.pages[PAGE] = INDEXED
    services.more |= {
        "googleCanonical": "https://e.example/canonical",
        "userCanonical": PAGE,
        "lastCrawlTime": "2026-11-20T10:00:00Z",
    }

    (found,) = check(pool, PAGE)

    assert (found["reason"], found["code"], found["credits"]) == ("indexed", "submitted_and_indexed", 1)
    assert (found["provider"], found["index"]) == ("search_console", "google")
    assert found["matched_url"] == "https://e.example/canonical"
    assert found["proofUrl"].startswith("https://search.google.com/search-console/inspect")
    assert found["inspection"] == {
        "service": "search_console",
        "property": DOMAIN,
        "verdict": "PASS",
        "coverage_state": "Submitted and indexed",
        "google_canonical": "https://e.example/canonical",
        "user_canonical": PAGE,
        "last_crawl_time": "2026-11-20T10:00:00Z",
        "robots_txt_state": "ALLOWED",
        "indexing_state": "INDEXING_ALLOWED",
        "page_fetch_state": "SUCCESSFUL",
    }
    assert services.inspected == [(DOMAIN, PAGE)]
    assert engine.queries() == []


def test_google_says_why_a_page_is_not_indexed(connected: Start, services: SiteServices, engine: SearchEngine) -> None:
    pool = connected()
    http = "http://e.example/page"
    services.pages |= {PAGE: INDEXED, http: ("NEUTRAL", "Page with redirect")}
    services.pages[POST] = ("NEUTRAL", "Crawled - currently not indexed")

    found = check(pool, PAGE, http, POST, f"{HERE}#part")

    assert [(one["reason"], one["code"]) for one in found] == [
        ("indexed", "submitted_and_indexed"),
        ("not_indexed", "redirect"),
        ("not_indexed", "crawled_not_indexed"),
        ("not_indexed", "unknown_to_google"),
    ]
    assert (DOMAIN, HERE) in services.inspected  # Google knows no fragments
    assert engine.queries() == []


def test_a_token_is_asked_for_once_and_again_when_it_is_refused(connected: Start, services: SiteServices) -> None:
    pool = connected()
    services.pages |= {PAGE: INDEXED, POST: INDEXED}

    check(pool, PAGE)
    assert len(services.tokens) == 1
    services.stale.add("token-1")
    (found,) = check(pool, POST)

    assert (found["reason"], len(services.tokens)) == ("indexed", 2)


def test_the_most_specific_property_is_asked(connected: Start, services: SiteServices) -> None:
    pool = connected("duckduckgo,bing", DOMAIN, PREFIX, BLOG)

    check(pool, POST, PAGE, "http://www.e.example/")

    assert sorted(services.inspected) == sorted([(BLOG, POST), (PREFIX, PAGE), (DOMAIN, "http://www.e.example/")])


def test_another_accounts_urls_never_use_the_connection(
    connected: Start, services: SiteServices, engine: SearchEngine, database: Database
) -> None:
    pool = connected("duckduckgo")
    services.pages[HERE] = ("NEUTRAL", "Crawled - currently not indexed")
    check(pool, HERE)
    stranger = open_account(database)

    (found,) = check(pool, HERE, payer=stranger)

    assert (found["provider"], found["reason"]) == ("duckduckgo", "indexed")
    assert "inspection" not in found
    assert len(services.inspected) == 1


def test_the_owned_lane_uses_sites_of_the_account_alone(
    connected: Start, services: SiteServices, database: Database
) -> None:
    pool = connected("duckduckgo")
    stranger = open_account(database)
    job_id = pool.submit(HERE, payer=stranger)
    pool.query("UPDATE item SET lane = %s", OWNED_LANE)

    pool.finish(job_id)

    assert [shown(item)["provider"] for item in pool.items(job_id)] == ["duckduckgo"]
    assert services.inspected == []


def test_an_answer_is_used_again_unless_it_has_to_be_fresh(connected: Start, services: SiteServices) -> None:
    pool = connected()
    services.pages[PAGE] = INDEXED

    check(pool, PAGE)
    (again,) = check(pool, PAGE)
    assert (again["reused"], again["credits"], len(services.inspected)) == (True, 0, 1)
    assert again["age_seconds"] >= 0
    (fresh,) = check(pool, PAGE, fresh=True)

    assert (fresh.get("reused", False), fresh["credits"], len(services.inspected)) == (False, 1, 2)


def test_after_the_days_quota_the_others_are_asked(connected: Start, services: SiteServices) -> None:
    pool = connected("duckduckgo")
    services.always = "day_429"

    found = check(pool, HERE, PAGE, POST)

    assert [(one["provider"], one["reason"]) for one in found] == [
        ("duckduckgo", "indexed"),
        ("duckduckgo", "not_indexed"),
        ("duckduckgo", "not_indexed"),
    ]
    assert len(services.inspected) == 1
    assert "quota" in (pool.database.run(site_quota.list_site_statuses())[0].rest or "")


def test_a_short_quota_is_waited_for(connected: Start, services: SiteServices, engine: SearchEngine) -> None:
    pool = connected("duckduckgo")
    services.pages[PAGE] = INDEXED
    services.faults.append("minute_429")
    job_id = pool.submit(PAGE)

    pool.drain(lambda: pool.items(job_id)[0].state == "waiting")
    rest = pool.query("SELECT extract(epoch FROM rest_until - now()) FROM site_quota")
    assert 0 < rest <= 60
    pool.query("UPDATE site_quota SET rest_until = now()")
    pool.query("UPDATE item SET run_at = now() WHERE state = 'waiting'")
    pool.finish(job_id)

    (found,) = map(shown, pool.items(job_id))
    assert (found["provider"], found["reason"]) == ("search_console", "indexed")
    assert pool.query("SELECT troubles FROM site_quota") == 0
    assert engine.queries() == []


@pytest.mark.parametrize(("asked_for", "hours"), [("7200", 2), ("999999999", 24)])
def test_a_rest_that_google_asks_for_is_kept_up_to_a_day(
    connected: Start, services: SiteServices, asked_for: str, hours: int
) -> None:
    pool = connected("duckduckgo")
    services.always, services.retry_after = "plain_429", asked_for

    (found,) = check(pool, HERE)

    assert found["provider"] == "duckduckgo"
    rest = pool.query("SELECT rest_until - now() FROM site_quota")
    assert timedelta(hours=hours) - timedelta(minutes=5) < rest <= timedelta(hours=hours)


def test_a_quota_that_stays_used_up_is_the_days(connected: Start, services: SiteServices) -> None:
    pool = connected("duckduckgo")
    services.always = "quotaExceeded"
    job_id = pool.submit(HERE)
    rests = []

    def rested() -> bool:
        """Return whether the job has ended; each rest is over at once."""
        rests.append(pool.query("SELECT round(extract(epoch FROM rest_until - now()) / 60) FROM site_quota"))
        pool.query("UPDATE item SET run_at = now() WHERE state = 'waiting'")
        pool.query("UPDATE site_quota SET rest_until = now() WHERE rest_until < now() + interval '2 min'")
        return pool.job(job_id).is_final

    pool.drain(rested)

    assert {1, 15} <= {rest and int(rest) for rest in rests}
    assert shown(pool.items(job_id)[0])["provider"] == "duckduckgo"


def test_another_property_has_a_quota_of_its_own(connected: Start, services: SiteServices) -> None:
    pool = connected("duckduckgo,bing", DOMAIN, BLOG)
    services.pages[POST] = INDEXED
    services.faults.append("day_429")

    (found,) = check(pool, POST)

    assert found["reason"] == "indexed"
    assert services.inspected == [(BLOG, POST), (DOMAIN, POST)]


def test_all_processes_share_the_days_quota(start: Start, services: SiteServices) -> None:
    pool = start("duckduckgo", search_console={"per_day": 3, "per_minute": 60_000})
    pool.start()
    google(pool, services)
    urls = [f"https://e.example/{number}" for number in range(5)]

    found = check(pool, *urls)

    assert [one["provider"] for one in found].count("search_console") == 3
    assert len(services.inspected) == 3
    assert pool.database.run(site_quota.list_site_statuses())[0].used == 3


def test_requests_keep_the_pace_of_a_minutes_quota(database: Database, start: Start, services: Any) -> None:
    pool = start(search_console={"per_minute": 60})
    site = OwnedSite(SEARCH_CONSOLE, DOMAIN, google(pool, services))
    limits = pool.settings.search.search_console

    waits = [database.run(site_quota.book(site, limits, most=timedelta(minutes=1))).wait for _ in range(4)]
    refused = database.run(site_quota.book(site, limits, most=timedelta(seconds=1)))

    assert [round(wait.total_seconds()) for wait in waits] == [0, 1, 2, 3]
    assert (refused.is_booked, refused.reason) == (False, None)
    assert timedelta() < refused.wait <= timedelta(seconds=3)


@pytest.mark.parametrize(("fault", "word"), [("api_disabled", "api_disabled"), ("revoked", "access_revoked")])
def test_access_that_is_gone_is_noted(connected: Start, services: SiteServices, fault: str, word: str) -> None:
    pool = connected("duckduckgo")
    if fault == "revoked":
        services.refusal = "invalid_grant"
    else:
        services.always = fault

    found = check(pool, HERE, PAGE)

    assert [one["provider"] for one in found] == ["duckduckgo", "duckduckgo"]
    (connection,) = pool.database.run(connections.list_connections())
    assert connection.fault is not None
    assert connection.fault.startswith(word)
    # The next job does not even try.
    grants = len(services.grants)
    assert check(pool, POST)[0]["provider"] == "duckduckgo"
    assert len(services.grants) == grants
    assert pool.database.run(connections.sites_of(pool.payer.account_id)) == []
    # Connected again, it is asked again.
    services.refusal = services.always = None
    google(pool, services)
    assert check(pool, "https://e.example/new")[0]["provider"] == "search_console"


@pytest.mark.parametrize("fault", ["not_owner", "bad_request", "500", "no_json"])
def test_others_are_asked_where_google_does_not_tell(connected: Start, services: SiteServices, fault: str) -> None:
    pool = connected("duckduckgo")
    services.always = fault

    (found,) = check(pool, HERE)

    assert (found["provider"], found["reason"]) == ("duckduckgo", "indexed")


def test_a_site_that_google_refuses_is_left_alone_after_some_refusals(connected: Start, services: SiteServices) -> None:
    pool = connected("duckduckgo", strikes=2)
    services.always = "not_owner"

    check(pool, *(f"https://e.example/{number}" for number in range(5)))

    assert len(services.inspected) == 2
    assert "site_refused" in (pool.database.run(site_quota.list_site_statuses())[0].rest or "")


def test_another_account_may_be_told(connected: Start, services: SiteServices, database: Database) -> None:
    pool = connected("duckduckgo", strikes=1)
    services.always = "not_owner"
    check(pool, PAGE)
    services.always = None
    other = open_account(database)
    google(pool, services, payer=other)

    (refused,) = check(pool, POST)
    (told,) = check(pool, POST, payer=other)
    (named,) = check(pool, HERE, engine="search_console")

    assert (refused["provider"], told["provider"]) == ("duckduckgo", "search_console")
    assert (named["reason"], named["code"]) == ("error", "site_refused")
    # Connected again, it is asked again at once.
    google(pool, services)
    assert check(pool, "https://e.example/again")[0]["provider"] == "search_console"


def test_search_console_alone_answers_where_it_is_named(
    connected: Start, services: SiteServices, engine: SearchEngine
) -> None:
    pool = connected("duckduckgo", search_console={"per_day": 1}, unreachable_seconds=0)

    job_id = pool.submit(HERE, PAGE, engine="search_console")
    pool.drain(lambda: sorted(item.state for item in pool.items(job_id)) == ["done", "waiting"])
    # It waits for the next day's quota, and not longer than its job.
    assert pool.query(
        "SELECT run_at > now() AND run_at < now() + interval '26 hours' FROM item WHERE state = 'waiting'"
    )
    pool.query("UPDATE site_quota SET day = day - 1")
    pool.query("UPDATE item SET run_at = now() WHERE state = 'waiting'")
    pool.finish(job_id)

    assert [shown(item)["provider"] for item in pool.items(job_id)] == ["search_console", "search_console"]
    assert engine.queries() == []


def test_a_named_search_console_is_asked_again(connected: Start, services: SiteServices, engine: SearchEngine) -> None:
    pool = connected("duckduckgo", unreachable_seconds=0.01, tries=2)
    services.faults.extend(["500"] * 5)
    services.pages[PAGE] = INDEXED

    (found,) = check(pool, PAGE, engine="search_console")
    services.always = "500"
    (failed,) = check(pool, POST, engine="search_console")

    assert (found["reason"], found["provider"]) == ("indexed", "search_console")
    assert (failed["reason"], failed["code"], failed["credits"]) == ("error", "http_500", 0)
    assert engine.queries() == []


def test_a_site_may_be_disconnected_meanwhile(start: Start, services: SiteServices, engine: SearchEngine) -> None:
    pool = start("duckduckgo")
    made = google(pool, services)
    job_id = pool.submit(HERE)
    named = pool.submit(PAGE, engine="search_console")
    assert pool.database.run(connections.disconnect(made)) == EMAIL

    pool.drain(lambda: pool.job(job_id).is_final and pool.job(named).is_final)

    assert shown(pool.items(job_id)[0])["provider"] == "duckduckgo"
    assert shown(pool.items(named)[0])["code"] == "site_not_connected"
    assert services.inspected == []


def test_credentials_that_can_not_be_decrypted_cost_no_quota(connected: Start, services: SiteServices) -> None:
    pool = connected("duckduckgo")
    (pool.settings.data / "secrets.key").write_text("A" * 43 + "=")

    (found,) = check(pool, HERE)
    (named,) = check(pool, PAGE, engine="search_console")

    assert found["provider"] == "duckduckgo"
    assert named["code"] == "secrets_unavailable"
    assert "`pressroom doctor` tells the operator why" in named["message"]
    assert str(pool.settings.data) not in named["message"]
    assert pool.query("SELECT used FROM site_quota") == 0
