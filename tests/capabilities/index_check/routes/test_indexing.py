"""The index routes: what they take, refuse and show."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from index_finder import BLOCKED, GONE, HERE, IndexJobs, find
from index_monitors import Monitors
from payers import open_account

from capabilities.index_check.providers.causes import UrlUnchecked
from pipeline.csv_cells import defused
from pipeline.database import Database, Statement
from pipeline.lifecycle import ClaimedItem, claim, expire, report
from workers.handler import Retry
from workers.pool.outcomes import to_row


def test_a_job_is_created_at_once_and_never_waited_for(jobs: IndexJobs) -> None:
    answer = jobs.create(HERE, GONE, HERE)

    job_id = answer.json["job_id"]
    assert answer.status == 201
    assert answer.json == {"job_id": job_id, "type": "check", "total_urls": 2, "status": "running"}
    assert answer.headers["location"] == f"/indexing/jobs/{job_id}"
    job = jobs.get(f"/indexing/jobs/{job_id}").json
    assert UUID(job["id"])
    assert (job["status"], job["processed_urls"], job["pending_count"], job["error_message"]) == ("running", 0, 2, None)
    assert job["eta"]
    assert jobs.get(f"/jobs/{job_id}").json["kind"] == "index_check"


def test_a_finished_job_tells_indexed_from_not_from_unknown(jobs: IndexJobs) -> None:
    job_id = jobs.create(HERE, GONE, BLOCKED).json["job_id"]
    jobs.finish()

    job = jobs.get(f"/indexing/jobs/{job_id}").json
    counts = [job[name] for name in ("processed_urls", "indexed_count", "failed_count", "rate_limited_count")]
    assert (job["status"], counts, job["eta"]) == ("complete", [3, 1, 1, 1], None)
    answer = jobs.get(f"/indexing/jobs/{job_id}/urls")
    shown = [(record["status"], record["is_indexed"], record["raw_result"]["reason"]) for record in answer.json]
    assert shown == [("done", True, "indexed"), ("done", False, "not_indexed"), ("failed", None, "rate_limited")]
    assert answer.headers["x-total-count"] == "3"
    assert answer.json[2]["raw_result"]["code"] == "captcha"
    for query, urls in (
        ("reason=rate_limited", [BLOCKED]),
        ("reason=indexed,rate_limited", [HERE, BLOCKED]),
        ("status=done&limit=1&offset=1", [GONE]),
        ("status=done,failed", [HERE, GONE, BLOCKED]),
        ("status=pending", []),
    ):
        page = jobs.get(f"/indexing/jobs/{job_id}/urls?{query}")
        assert [record["url"] for record in page.json] == urls
    result = jobs.get(f"/jobs/{job_id}/result")
    assert (result.status, result.json) == (200, job)
    # Also where all of them have failed.
    job_id = jobs.create(BLOCKED).json["job_id"]
    jobs.finish()
    assert jobs.get(f"/jobs/{job_id}/result").json["status"] == "complete"


def test_a_job_is_not_done_before_a_provider_has_rested(jobs: IndexJobs, api_database_url: str) -> None:
    def eta(**more: object) -> float:
        """Return in how many hours a job of one URL will be done."""
        job_id = jobs.create(HERE, **more).json["job_id"]
        job = jobs.get(f"/indexing/jobs/{job_id}").json
        assert jobs.get("/indexing/jobs?limit=1").json[0]["eta"]
        return (datetime.fromisoformat(job["eta"]) - datetime.now(UTC)) / timedelta(hours=1)

    with psycopg.connect(api_database_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO search_provider (name, next_at, open_until, off_until) VALUES"
            # One of another key, which was asked last before the key was changed.
            " ('duckduckgo:old', now() - interval '1 day', NULL, NULL),"
            " ('duckduckgo:new', now(), now() + interval '10 hours', NULL),"
            " ('bing:x', now() + interval '20 hours', NULL, NULL)"
        )
        try:
            assert eta() == pytest.approx(10, abs=0.1)
            assert eta(engine="bing") == pytest.approx(20, abs=0.1)
            assert eta(index="bing") == pytest.approx(20, abs=0.1)
            connection.execute("UPDATE search_provider SET off_until = now() + interval '1 hour' WHERE name ~ 'duck'")
            assert eta() == pytest.approx(20, abs=0.1)
        finally:
            connection.execute("DELETE FROM search_provider")


def test_a_job_says_for_whom_it_waits_until_one_may_be_asked(jobs: IndexJobs, api_database_url: str) -> None:
    job_id = jobs.create(HERE).json["job_id"]

    def waiting() -> Any:
        """Return what the job says, alone and in the list."""
        alone = jobs.get(f"/indexing/jobs/{job_id}").json["waiting_for"]
        assert jobs.get("/indexing/jobs").json[0]["waiting_for"] == alone
        return alone

    with psycopg.connect(api_database_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO search_provider (name, state, open_until, off_until, reason) VALUES"
            " ('duckduckgo:x', 'open', '2100-01-01 12:40Z', NULL, 'captcha'),"
            " ('bing:x', 'misconfigured', '2100-01-02 12:40Z', '2100-01-02 12:40Z', 'config:key')"
        )
        try:
            found = waiting()
            assert found["until"] == "2100-01-01T12:40:00.000Z"
            assert [tuple(one.values()) for one in found["providers"]] == [
                ("duckduckgo", "2100-01-01T12:40:00.000Z", "captcha", "the search engine asked for a captcha"),
                ("bing", "2100-01-02T12:40:00.000Z", "config", "the search provider refused our key"),
            ]
            connection.execute("UPDATE search_provider SET state = 'open', reason = 'throttled' WHERE name = 'bing:x'")
            job = jobs.get(f"/indexing/jobs/{job_id}").json
            assert [job[name] for name in ("pending_count", "failed_count", "rate_limited_count")] == [1, 0, 1]
            [record] = jobs.get(f"/indexing/jobs/{job_id}/urls").json
            assert record["last_error"].startswith("Not asked about yet. duckduckgo is asked again at 2100-01-01T12:40")
            connection.execute("UPDATE search_provider SET open_until = now() WHERE name = 'duckduckgo:x'")
            assert waiting() is None
            connection.execute("UPDATE search_provider SET open_until = '2100-01-01Z'")
            jobs.finish()
            assert waiting() is None
        finally:
            connection.execute("DELETE FROM search_provider")


def test_a_job_whose_provider_could_not_be_reached_says_when_it_is_asked_again(jobs: IndexJobs) -> None:
    job_id = jobs.create(HERE, GONE).json["job_id"]

    def waiting() -> Any:
        return jobs.get(f"/indexing/jobs/{job_id}").json["waiting_for"]

    def take() -> ClaimedItem:
        (item,) = jobs.database.run(claim({"index_check": 1}, lease_for=timedelta(seconds=30)))
        return item

    assert waiting() is None
    first = take()
    lost = UrlUnchecked("transport", remedy="It is asked for again.", provider="duckduckgo")
    put_off = to_row(first.item_id, 1, Retry(timedelta(hours=1), lost))
    jobs.database.run(report(first.lease_id, [put_off]))
    found = waiting()
    assert [(one["provider"], one["code"]) for one in found["providers"]] == [("duckduckgo", "transport")]
    assert found["providers"][0]["message"] == "the search engine could not be reached"
    assert datetime.fromisoformat(found["until"]) > datetime.now(UTC) + timedelta(minutes=50)
    records = jobs.get(f"/indexing/jobs/{job_id}/urls").json
    assert all("the search engine could not be reached" in record["last_error"] for record in records)

    second = take()  # another URL has an answer: the provider is there again
    jobs.database.run(report(second.lease_id, [find(second)]))
    assert waiting() is None


def test_a_job_whose_urls_are_deleted_is_gone(jobs: IndexJobs, api_database_url: str) -> None:
    job_id, kept = (jobs.create(HERE, BLOCKED).json["job_id"] for _ in range(2))
    jobs.finish()
    with psycopg.connect(api_database_url, autocommit=True) as connection:
        connection.execute("UPDATE job SET expires_at = now() - interval '1 s' WHERE id = %s", [job_id])

    for path in ("", "/urls", "/export"):
        answer = jobs.get(f"/indexing/jobs/{job_id}{path}")
        assert (answer.status, answer.code) == (410, "result_expired"), path
    assert jobs.post(f"/indexing/jobs/{job_id}/retry", {}).status == 410
    listed = jobs.get("/indexing/jobs")
    assert [job["id"] for job in listed.json] == [kept]
    assert listed.headers["x-total-count"] == "1"
    assert jobs.get(f"/jobs/{job_id}").json["state"] == "partial"


def test_the_export_is_quoted_defused_csv_even_while_the_job_runs(jobs: IndexJobs, api_database: Database) -> None:
    job_id = jobs.create(HERE, GONE, "https://e.example/a,b").json["job_id"]
    (item,) = api_database.run(claim({"index_check": 1}, lease_for=timedelta(seconds=30)))
    api_database.run(report(item.lease_id, [find(item)]))

    answer = jobs.get(f"/indexing/jobs/{job_id}/export")

    assert answer.headers["content-disposition"] == f"attachment; filename=index-job-{job_id}.csv"
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    head, *rows = csv.reader(io.StringIO(answer.body.decode(), newline=""))
    assert head[:7] == ["url", "status", "is_indexed", "reason", "search_status", "created_at", "updated_at"]
    assert [row[:5] for row in rows] == [
        [HERE, "done", "true", "indexed", ""],
        [GONE, "pending", "", "", ""],
        ["https://e.example/a,b", "pending", "", "", ""],
    ]
    assert answer.body.startswith(b'"url","status"')


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx", "＝1", "＠x"])
def test_formula_cells_are_defused(cell: str) -> None:
    assert defused(cell) == f"'{cell}"
    assert defused(f"x{cell}") == f"x{cell}"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"type": "submit", "urls": [HERE]}, "type_not_available"),
        ({"type": "crawl", "urls": [HERE]}, "invalid_request"),
        ({"urls": [HERE]}, "invalid_request"),
        ({"type": "check", "urls": []}, "invalid_request"),
        ({"type": "check", "urls": HERE}, "invalid_request"),
        ({"type": "check", "urls": [HERE, 7]}, "invalid_request"),
        ({"type": "check", "urls": [f"{HERE}/{n}" for n in range(10_001)]}, "invalid_request"),
        ({"type": "check", "urls": [HERE], "source": "x"}, "invalid_request"),
        ({"type": "check", "urls": [HERE], "engine": "altavista"}, "engine_unknown"),
        ({"type": "check", "urls": [HERE], "index": "altavista"}, "index_unknown"),
    ],
)
def test_what_is_no_request_is_refused(jobs: IndexJobs, body: object, code: str) -> None:
    answer = jobs.post("/indexing/jobs", body)

    assert (answer.status, answer.code) == (400, code)


def test_jobs_are_listed_newest_first_and_belong_to_their_account(jobs: IndexJobs, api_database: Database) -> None:
    first, second = (jobs.create(HERE, f"{GONE}{n}").json["job_id"] for n in range(2))
    named = jobs.create(HERE, engine="bing").json["job_id"]
    assert [job["id"] for job in jobs.get("/jobs?kind=index_check").json] == [named, second, first]

    listed = jobs.get("/indexing/jobs?type=check")
    assert [job["id"] for job in listed.json] == [named, second, first]
    assert listed.headers["x-total-count"] == "3"
    assert jobs.get("/indexing/jobs?type=submit").json == []
    stranger = open_account(api_database)
    for path in ("", "/urls", "/export"):
        assert jobs.service.get(f"/indexing/jobs/{first}{path}", stranger.api_key).code == "job_not_found"
        assert jobs.service.get(f"/indexing/jobs/{first}{path}").status == 401
    assert jobs.service.post(f"/indexing/jobs/{first}/retry", {}, stranger.api_key).code == "job_not_found"


def test_a_page_has_as_many_entries_as_its_documentation_says_and_no_more(jobs: IndexJobs, monitors: Monitors) -> None:
    job, monitor = jobs.create(HERE).json["job_id"], monitors.create(HERE)["id"]
    lists = {"jobs": 100, f"jobs/{job}/urls": 1_000, "monitors": 100, f"monitors/{monitor}/changes": 1_000}

    for path, most in lists.items():
        assert jobs.get(f"/indexing/{path}?limit={most}").status == 200, path
        for limit in (0, most + 1):
            refused = jobs.get(f"/indexing/{path}?limit={limit}")
            assert (refused.status, refused.code) == (400, "parameter_invalid"), path


def test_a_body_may_have_32_mebibytes(jobs: IndexJobs) -> None:
    body = json.dumps({"type": "check", "urls": [HERE]}).encode()
    size, key = 32 * 2**20, jobs.client.api_key

    assert jobs.service.post_bytes("/indexing/jobs", body.ljust(size), key).status == 201
    assert jobs.service.post_bytes("/indexing/jobs", body.ljust(size + 1), key).status == 413


def test_ten_thousand_urls_are_created_and_exported_in_one_request_each(jobs: IndexJobs) -> None:
    urls = [f"https://shop.example/products/{number}?ref=catalogue" for number in range(10_000)]

    answer = jobs.create(*urls)

    # How long it takes is measured where nothing else runs: benchmarks/index.py.
    assert (answer.status, answer.json["total_urls"]) == (201, 10_000)
    job_id = answer.json["job_id"]
    jobs.finish()
    job = jobs.get(f"/indexing/jobs/{job_id}").json
    assert (job["status"], job["processed_urls"]) == ("complete", 10_000)
    lines = jobs.get(f"/indexing/jobs/{job_id}/export").body.splitlines()
    assert len(lines) == 10_001
    assert json.loads(lines[-1].partition(b",")[0]) == urls[-1]


def test_index_jobs_are_filtered_by_status_and_date(jobs: IndexJobs) -> None:
    def submit() -> str:
        return str(jobs.create(HERE).json["job_id"])

    def change(job_id: str, changes: str) -> None:
        jobs.database.run(Statement(f"UPDATE job SET {changes} WHERE id = %(id)s RETURNING 1", {"id": job_id}))

    complete = submit()
    jobs.finish()
    cancelled = submit()
    jobs.post(f"/jobs/{cancelled}/cancel", {})
    expired = submit()
    change(expired, "deadline = now() - interval '1 ms'")
    assert str(jobs.database.run(expire())) == expired
    running = submit()
    change(running, "created_at = '2026-05-04'")

    for query, wanted in [
        ("status=complete", [complete]),
        ("status=cancelled,failed", [expired, cancelled]),
        ("status=running", [running]),
        ("to=2026-05-04", [running]),
        ("from=2026-05-05", [expired, cancelled, complete]),
    ]:
        listed = jobs.get(f"/indexing/jobs?{query}")
        assert [job["id"] for job in listed.json] == wanted, query
        assert {job["status"] for job in listed.json} <= set(query.removeprefix("status=").split(",")) or "-" in query
    assert jobs.get("/indexing/jobs?status=lost").code == "parameter_invalid"
