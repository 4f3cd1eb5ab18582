"""Submitting URLs: a record a URL, one call a site, and nothing that was not delivered is charged."""

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from given_task import GivenTask
from index_pools import SubmitPool, codes, raw_result_of, reasons
from payers import open_account
from told_engines import KEY, ToldEngines, told_engines
from waiting import wait_for

from capabilities.index_check.engines.submission import SubmissionVerdict, SubmittedSite
from capabilities.index_check.handlers.submit import IndexSubmitHandler
from capabilities.index_check.kinds.index_check import UrlInput
from capabilities.index_check.results.urls import UrlRecord
from pipeline import lifecycle
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database
from pipeline.settings import Settings
from workers.engines.resources import Resources
from workers.handler import Done, Failed, Retry

Begin = Callable[..., SubmitPool]


@pytest.fixture
def engines() -> Iterator[ToldEngines]:
    with told_engines() as running:
        for host in (running.here, running.there):
            running.files[host, f"/{KEY}.txt"] = KEY
        yield running


@pytest.fixture
def begin(
    database: Database, index_database_url: str, redis_url: str, tmp_path: Path, engines: ToldEngines
) -> Iterator[Begin]:
    pools: list[SubmitPool] = []

    def make(**more: Any) -> SubmitPool:
        payer = open_account(database, credits=100_000)
        pools.append(SubmitPool(database, redis_url, tmp_path, payer, index_database_url, **engines.settings(**more)))
        return pools[-1]

    yield make
    engines.is_held = False
    assert database.run(discrepancies()) == []
    for pool in pools:
        pool.close()


def test_urls_of_a_site_are_told_in_one_call_and_each_has_its_record(begin: Begin, engines: ToldEngines) -> None:
    pool = begin()
    here, there = engines.urls(3), engines.urls(2, engines.there)

    job, items = pool.tell(*here, *there)

    assert sorted(engines.told) == [(engines.here, here), (engines.there, there)]
    assert reasons(items) == ["submitted"] * 5
    record = UrlRecord.of(items[0])
    assert (record.status, record.is_indexed, record.search_status) == ("done", None, "accepted")
    assert record.raw_result is not None
    assert (record.raw_result.provider, record.raw_result.code) == ("indexnow", "accepted")
    assert (job.state, job.credits_captured, job.engine) == ("succeeded", 5, "indexnow")


def test_urls_of_several_jobs_share_a_call_and_the_same_one_goes_out_once(begin: Begin, engines: ToldEngines) -> None:
    pool = begin()
    first, second = pool.submit(*engines.urls(2)), pool.submit(*engines.urls(3))

    pool.finish(second)

    assert engines.told == [(engines.here, engines.urls(3))]
    assert [pool.job(job).items_ok for job in (first, second)] == [2, 3]


def test_a_url_is_sent_as_rfc_3986_has_it_and_without_its_fragment(begin: Begin, engines: ToldEngines) -> None:
    begin().tell(f"http://{engines.here}/caf\u00e9?q=\u00fc#top")

    assert engines.told == [(engines.here, [f"http://{engines.here}/caf%C3%A9?q=%C3%BC"])]


def test_a_url_waits_as_long_as_it_is_asked_to_and_says_why(begin: Begin, engines: ToldEngines) -> None:
    engines.faults.append((429, "3600"))
    pool = begin()
    job_id = pool.submit(*engines.urls(2))

    pool.drain(lambda: engines.calls == 1 and pool.items(job_id)[0].state == "waiting")

    record = UrlRecord.of(pool.items(job_id)[0])
    assert (record.status, record.raw_result) == ("pending", None)
    assert "HTTP 429" in (record.last_error or "")
    waits = pool.query("SELECT DISTINCT run_at - now() FROM item WHERE job_id = %s", job_id)
    assert timedelta(minutes=59) < waits <= timedelta(hours=1)


def test_a_url_that_is_put_off_too_often_fails_uncharged(begin: Begin, engines: ToldEngines) -> None:
    engines.faults.extend([(429, "")] * 2)

    job, items = begin(tries=2).tell(*engines.urls(1))

    assert (reasons(items), codes(items)) == (["rate_limited"], {"throttled"})
    assert (job.credits_captured, engines.calls) == (0, 2)
    assert UrlRecord.of(items[0]).search_status == "throttled"


def test_a_site_without_its_key_fails_alone(begin: Begin, engines: ToldEngines) -> None:
    del engines.files[engines.there, f"/{KEY}.txt"]

    job, items = begin().tell(*engines.urls(1), *engines.urls(1, engines.there))

    assert reasons(items) == ["submitted", "error"]
    found = raw_result_of(items[1])
    assert (found["code"], found["provider"]) == ("key_invalid", "indexnow")
    assert f"http://{engines.there}/KEY.txt" in found["message"]
    assert KEY not in str(found)
    assert (job.state, job.credits_captured) == ("partial", 1)


def test_a_url_that_can_not_be_sent_fails_alone(begin: Begin, engines: ToldEngines) -> None:
    pool = begin()

    job, items = pool.tell(*engines.urls(1), "no url")

    assert (codes(items), job.credits_captured) == ({"accepted", "url_invalid"}, 1)


def test_a_site_that_no_engine_is_set_up_for_is_told_so(begin: Begin, engines: ToldEngines) -> None:
    own = {"url": f"http://{engines.here}/indexnow", "keys": f"{engines.here}={KEY}"}

    _, items = begin(indexnow=own).tell(*engines.urls(1), *engines.urls(1, engines.there))

    assert codes(items) == {"accepted", "key_missing"}


def test_a_job_that_is_cancelled_meanwhile_costs_nothing(begin: Begin, engines: ToldEngines) -> None:
    pool = begin()
    engines.is_held = True
    mine, other = pool.submit(*engines.urls(1)), pool.submit(*engines.urls(1, engines.there))
    working = threading.Thread(target=pool.drain, args=[lambda: pool.job(other).is_final])
    working.start()
    wait_for(lambda: engines.calls)

    pool.database.run(lifecycle.cancel(mine, None))
    engines.is_held = False
    working.join()

    assert (pool.job(mine).state, pool.job(mine).credits_captured) == ("cancelled", 0)
    assert pool.job(other).state == "succeeded"


def test_where_nothing_is_set_up_nothing_is_claimed(begin: Begin, engines: ToldEngines) -> None:
    pool = begin(indexnow={"key": None})
    job_id = pool.submit(*engines.urls(1))

    pool.runner.drain()

    assert pool.items(job_id)[0].state == "ready"
    assert [(offer.engine, offer.ready) for offer in pool.handlers[0].offers()] == [("indexnow", False)]


class Engine:
    """An engine that refuses one site, and has a fault in its code at another."""

    def __init__(self, name: str, refuses: str = "") -> None:
        self.name = name
        self._refuses = refuses

    def covers(self, site: SubmittedSite) -> bool:
        return True

    def submit(self, site: SubmittedSite, urls: Sequence[str]) -> Sequence[SubmissionVerdict]:
        if site.host == "broken.example":
            raise ZeroDivisionError
        return [SubmissionVerdict("key_invalid" if site.host == self._refuses else "accepted")] * len(urls)


class TwoEngines:
    engines = (Engine("first", refuses="other.example"), Engine("second"))


@pytest.fixture
def two_engines() -> IndexSubmitHandler:
    return IndexSubmitHandler(Resources(Settings()), family=TwoEngines())


def test_the_next_engine_takes_what_the_first_does_not_and_a_request_may_name_its_engine(
    two_engines: IndexSubmitHandler,
) -> None:
    inputs = [
        UrlInput(url="https://other.example/"),
        UrlInput(url="https://well.example/"),
        UrlInput(url="https://well.example/", engine="second"),
        UrlInput(url="https://other.example/", engine="first"),
    ]

    *taken, refused = two_engines.run([GivenTask(one) for one in inputs])

    assert [one.engine for one in taken if isinstance(one, Done)] == ["second", "first", "second"]
    assert isinstance(refused, Failed)


def test_a_fault_at_one_site_costs_the_others_nothing(two_engines: IndexSubmitHandler) -> None:
    tasks = [GivenTask(UrlInput(url=f"https://{host}.example/")) for host in ("broken", "well")]

    first, second = two_engines.run(tasks)

    assert isinstance(first, Retry)
    assert isinstance(second, Done)
