"""URLs that are asked for again: which, how, and not twice at once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from http_service import Answer
from index_finder import BLOCKED, GONE, HERE, IndexJobs, find
from manual_worker import refuse

from pipeline.lifecycle import claim, report

BLOCKED_TOO = "https://e.example/too/blocked"


@pytest.fixture
def job_id(jobs: IndexJobs) -> str:
    """A job that has ended, with URLs of each kind."""
    found: str = jobs.create(HERE, GONE, BLOCKED, BLOCKED_TOO).json["job_id"]
    jobs.finish()
    return found


def retry(jobs: IndexJobs, job_id: str, reason: str | None = None, **headers: str) -> Answer:
    return jobs.post(f"/indexing/jobs/{job_id}/retry", {"reason": reason} if reason else {}, **headers)


def test_a_retry_gets_new_answers(jobs: IndexJobs, job_id: str, api_database_url: str) -> None:
    again = retry(jobs, job_id, "not_indexed")

    assert (again.status, again.json["total_urls"]) == (201, 1)
    with psycopg.connect(api_database_url) as connection:
        rows = connection.execute("SELECT input FROM item WHERE job_id = %s", [again.json["job_id"]]).fetchall()
    assert rows == [({"url": GONE, "fresh": True},)]
    jobs.finish()
    # A retry of the retry wants new answers too.
    later = retry(jobs, again.json["job_id"], "not_indexed")
    assert later.json["job_id"] != again.json["job_id"]


def test_a_retry_keeps_the_index_that_the_job_named(jobs: IndexJobs) -> None:
    job_id = jobs.create(BLOCKED, index="bing").json["job_id"]
    jobs.finish("index_check_index_bing")

    again = retry(jobs, job_id)

    jobs.finish()
    assert jobs.get(f"/indexing/jobs/{again.json['job_id']}").json["status"] == "running"
    jobs.finish("index_check_index_bing")
    assert jobs.get(f"/indexing/jobs/{again.json['job_id']}").json["status"] == "complete"


def test_a_second_retry_is_the_first_while_that_runs_and_a_new_one_after_it(jobs: IndexJobs, job_id: str) -> None:
    first = retry(jobs, job_id, "rate_limited")
    second = retry(jobs, job_id, "rate_limited")
    named = retry(jobs, job_id, "rate_limited", Idempotency_Key="mine")

    assert [answer.status for answer in (first, second, named)] == [201, 201, 201]
    assert second.json == named.json == first.json
    assert second.headers["location"] == first.headers["location"]
    assert jobs.get("/usage").json["credits_held"] == 2
    # Another reason is another retry.
    other = retry(jobs, job_id, "not_indexed")
    assert other.json["job_id"] != first.json["job_id"]

    jobs.finish()
    third = retry(jobs, job_id, "rate_limited")
    assert third.json["job_id"] not in {first.json["job_id"], other.json["job_id"]}


def test_retries_sent_at_the_same_moment_are_one_job(jobs: IndexJobs, job_id: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: retry(jobs, job_id, "rate_limited"), range(8)))

    assert {answer.status for answer in answers} == {201}
    assert len({answer.json["job_id"] for answer in answers}) == 1
    assert jobs.get("/usage").json["credits_held"] == 2
    assert len(jobs.get("/indexing/jobs").json) == 2


def test_there_is_nothing_to_retry_of_a_reason_that_no_url_has(jobs: IndexJobs) -> None:
    job_id = jobs.create(HERE).json["job_id"]
    jobs.finish()

    for reason in ("not_indexed", "rate_limited", None):
        assert retry(jobs, job_id, reason).code == "nothing_to_retry"
    assert retry(jobs, job_id, "indexed").status == 400


def test_a_retry_without_a_reason_leaves_out_what_was_answered(jobs: IndexJobs) -> None:
    job_id = jobs.create(HERE, GONE, BLOCKED, source="wordpress").json["job_id"]
    jobs.finish()

    again = retry(jobs, job_id)

    assert (again.status, again.json["total_urls"]) == (201, 1)
    assert jobs.get(f"/jobs/{again.json['job_id']}").json["source"] == "wordpress"
    (record,) = jobs.get(f"/indexing/jobs/{again.json['job_id']}/urls").json
    assert (record["url"], record["status"], record["raw_result"]) == (BLOCKED, "pending", None)


def test_a_retry_sent_twice_is_one_job_though_more_urls_have_failed_meanwhile(jobs: IndexJobs) -> None:
    job_id = jobs.create(BLOCKED, BLOCKED_TOO).json["job_id"]
    answers = []
    for _ in range(2):
        (item,) = jobs.database.run(claim({"index_check": 1}, lease_for=timedelta(seconds=30)))
        jobs.database.run(report(item.lease_id, [find(item)]))
        answers.append(retry(jobs, job_id, Idempotency_Key="once"))

    assert [answer.status for answer in answers] == [201, 201]
    assert answers[0].json["job_id"] == answers[1].json["job_id"]
    other = retry(jobs, job_id, "rate_limited", Idempotency_Key="once")
    assert (other.status, other.code) == (422, "idempotency_key_reused")


def test_a_retry_with_a_provider_that_is_gone_is_refused(jobs: IndexJobs, api_database_url: str) -> None:
    job_id = jobs.create(BLOCKED).json["job_id"]
    jobs.finish()
    with psycopg.connect(api_database_url, autocommit=True) as connection:
        connection.execute('UPDATE job SET request = request || \'{"engine": "altavista"}\' WHERE id = %s', [job_id])

    assert retry(jobs, job_id).code == "engine_unknown"


def test_a_retry_at_the_route_of_all_jobs_leaves_out_what_can_not_be_checked(jobs: IndexJobs) -> None:
    job_id = jobs.create(BLOCKED, "no url at all", skip_invalid=True).json["job_id"]
    jobs.finish()
    jobs.worker.lanes = {"index_check_faulty": 10}
    jobs.worker.work(refuse)

    again = jobs.service.post_bytes(f"/jobs/{job_id}/retry", b"", jobs.client.api_key)

    assert (again.status, again.json["progress"]["total"]) == (202, 1)
    (record,) = jobs.get(f"/indexing/jobs/{again.json['id']}/urls").json
    assert record["url"] == BLOCKED
