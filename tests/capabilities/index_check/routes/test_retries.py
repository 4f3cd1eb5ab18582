"""URLs that are asked for again: which, how, and not twice at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from http_service import Answer, Service
from index_finder import BLOCKED, GONE, HERE, create, find, finish
from manual_worker import ManualWorker, refuse
from payers import Payer

from pipeline.lifecycle import claim, report

BLOCKED_TOO = "https://e.example/too/blocked"


@pytest.fixture
def job_id(service: Service, client: Payer, finder: ManualWorker) -> str:
    """A job that has ended, with URLs of each kind."""
    found: str = create(service, client, HERE, GONE, BLOCKED, BLOCKED_TOO).json["job_id"]
    finish(finder)
    return found


def retry(service: Service, client: Payer, job_id: str, reason: str | None = None, **headers: str) -> Answer:
    return service.post(
        f"/indexing/jobs/{job_id}/retry", {"reason": reason} if reason else {}, client.api_key, **headers
    )


def test_urls_that_were_not_found_are_asked_for_again_and_get_a_new_answer(
    service: Service, client: Payer, finder: ManualWorker, job_id: str, api_database_url: str
) -> None:
    again = retry(service, client, job_id, "not_indexed")

    assert (again.status, again.json["total_urls"]) == (201, 1)
    with psycopg.connect(api_database_url) as connection:
        rows = connection.execute("SELECT input FROM item WHERE job_id = %s", [again.json["job_id"]]).fetchall()
    assert rows == [({"url": GONE, "fresh": True},)]
    finish(finder)
    # A retry of the retry wants new answers too.
    later = retry(service, client, again.json["job_id"], "not_indexed")
    assert later.json["job_id"] != again.json["job_id"]
    finish(finder)


def test_a_retry_keeps_the_index_that_the_job_named(service: Service, client: Payer, finder: ManualWorker) -> None:
    job_id = create(service, client, BLOCKED, index="bing").json["job_id"]
    finish(finder, "index_check_index_bing")

    again = retry(service, client, job_id)

    finish(finder)
    assert service.get(f"/indexing/jobs/{again.json['job_id']}", client.api_key).json["status"] == "running"
    finish(finder, "index_check_index_bing")
    assert service.get(f"/indexing/jobs/{again.json['job_id']}", client.api_key).json["status"] == "complete"


def test_a_second_retry_is_the_first_while_that_runs_and_a_new_one_after_it(
    service: Service, client: Payer, finder: ManualWorker, job_id: str
) -> None:
    first = retry(service, client, job_id, "rate_limited")
    second = retry(service, client, job_id, "rate_limited")
    named = retry(service, client, job_id, "rate_limited", Idempotency_Key="mine")

    assert [answer.status for answer in (first, second, named)] == [201, 201, 201]
    assert second.json == named.json == first.json
    assert second.headers["location"] == first.headers["location"]
    assert service.get("/usage", client.api_key).json["credits_held"] == 2
    # Another reason is another retry.
    other = retry(service, client, job_id, "not_indexed")
    assert other.json["job_id"] != first.json["job_id"]

    finish(finder)
    third = retry(service, client, job_id, "rate_limited")
    assert third.json["job_id"] not in {first.json["job_id"], other.json["job_id"]}
    finish(finder)


def test_retries_sent_at_the_same_moment_are_one_job(
    service: Service, client: Payer, finder: ManualWorker, job_id: str
) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: retry(service, client, job_id, "rate_limited"), range(8)))

    assert {answer.status for answer in answers} == {201}
    assert len({answer.json["job_id"] for answer in answers}) == 1
    assert service.get("/usage", client.api_key).json["credits_held"] == 2
    assert len(service.get("/indexing/jobs", client.api_key).json) == 2
    finish(finder)


def test_a_second_retry_needs_no_credits_of_its_own(
    service: Service, client: Payer, finder: ManualWorker, job_id: str, api_database_url: str
) -> None:
    first = retry(service, client, job_id)
    with psycopg.connect(api_database_url, autocommit=True) as connection:
        before = connection.execute(
            "UPDATE account a SET available = 0 FROM account b WHERE a.id = b.id AND a.id = %s RETURNING b.available",
            [client.account_id],
        ).fetchone()
        assert before is not None
        try:
            assert retry(service, client, job_id).json == first.json
        finally:
            connection.execute("UPDATE account SET available = %s WHERE id = %s", [before[0], client.account_id])
    finish(finder)


def test_there_is_nothing_to_retry_of_a_reason_that_no_url_has(
    service: Service, client: Payer, finder: ManualWorker
) -> None:
    job_id = create(service, client, HERE).json["job_id"]
    finish(finder)

    for reason in ("not_indexed", "rate_limited", None):
        assert retry(service, client, job_id, reason).code == "nothing_to_retry"
    assert retry(service, client, job_id, "indexed").status == 400


def test_a_retry_without_a_reason_leaves_out_what_was_answered(
    service: Service, client: Payer, finder: ManualWorker
) -> None:
    job_id = create(service, client, HERE, GONE, BLOCKED, source="wordpress").json["job_id"]
    finish(finder)

    again = retry(service, client, job_id)

    assert (again.status, again.json["total_urls"]) == (201, 1)
    assert service.get(f"/jobs/{again.json['job_id']}", client.api_key).json["source"] == "wordpress"
    (record,) = service.get(f"/indexing/jobs/{again.json['job_id']}/urls", client.api_key).json
    assert (record["url"], record["status"], record["raw_result"]) == (BLOCKED, "pending", None)
    finish(finder)


def test_a_retry_sent_twice_is_one_job_though_more_urls_have_failed_meanwhile(
    service: Service, client: Payer, finder: ManualWorker
) -> None:
    job_id = create(service, client, BLOCKED, BLOCKED_TOO).json["job_id"]
    jobs = []
    for _ in range(2):
        (item,) = finder.database.run(claim({"index_check": 1}, lease_for=timedelta(seconds=30)))
        finder.database.run(report(item.lease_id, [find(item)]))
        jobs.append(retry(service, client, job_id, Idempotency_Key="once"))

    assert [job.status for job in jobs] == [201, 201]
    assert jobs[0].json["job_id"] == jobs[1].json["job_id"]
    other = retry(service, client, job_id, "rate_limited", Idempotency_Key="once")
    assert (other.status, other.code) == (422, "idempotency_key_reused")
    finish(finder)


def test_a_retry_with_a_provider_that_is_gone_is_refused_and_waits_for_nobody(
    service: Service, client: Payer, finder: ManualWorker, api_database_url: str
) -> None:
    job_id = create(service, client, BLOCKED).json["job_id"]
    finish(finder)
    with psycopg.connect(api_database_url, autocommit=True) as connection:
        connection.execute('UPDATE job SET request = request || \'{"engine": "altavista"}\' WHERE id = %s', [job_id])

    assert retry(service, client, job_id).code == "engine_unknown"


def test_a_retry_at_the_route_of_all_jobs_leaves_out_what_can_not_be_checked(
    service: Service, client: Payer, finder: ManualWorker
) -> None:
    job_id = create(service, client, BLOCKED, "no url at all", skip_invalid=True).json["job_id"]
    finish(finder)
    finder.lanes = {"index_check_faulty": 10}
    finder.work(refuse)

    again = service.post_bytes(f"/jobs/{job_id}/retry", b"", client.api_key)

    assert (again.status, again.json["progress"]["total"]) == (202, 1)
    (record,) = service.get(f"/indexing/jobs/{again.json['id']}/urls", client.api_key).json
    assert record["url"] == BLOCKED
    finish(finder)
