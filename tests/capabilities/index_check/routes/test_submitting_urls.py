"""The index routes with `"type": "submit"`, where the operator has turned it on."""

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from http_service import Service, start_service
from index_finder import IndexJobs
from manual_worker import ManualWorker
from payers import Payer

from pipeline.lifecycle import ClaimedItem, Outcome, claim, report

HERE, LIMITED, KEYLESS = "https://e.example/here", "https://e.example/limited", "https://e.example/keyless"
REFUSALS = {"limited": ("quota", "rate_limited"), "keyless": ("key_invalid", "error")}


@pytest.fixture(scope="module")
def submitting(tmp_path_factory: pytest.TempPathFactory, api_database_url: str, redis_server: str) -> Iterator[Service]:
    with start_service(
        tmp_path_factory.mktemp("service"),
        database_url=api_database_url,
        redis_url=redis_server,
        settings={"SUBMISSION__INDEXNOW__KEY": "0123456789abcdef"},
    ) as running:
        yield running


@pytest.fixture
def jobs(submitting: Service, client: Payer, finder: ManualWorker) -> IndexJobs:
    return IndexJobs(submitting, client, finder, type="submit")


def tell(item: ClaimedItem) -> Outcome:
    """Answer as the URL's last part says, in the form of the handler's own records."""
    refusal = REFUSALS.get(item.input["url"].rpartition("/")[2])
    told = {"provider": "indexnow", "checked_at": "2026-11-22T10:00:00.000Z"}
    if refusal is not None:
        code, reason = refusal
        error = {"status": 500, "error": "x", "message": "Not submitted.", "code": code, "reason": reason}
        return Outcome(item.item_id, "failed", 0, error={**error, **told, "search_status": code})
    output = {"reason": "submitted", "code": "accepted", "search_status": "accepted", **told}
    return Outcome(item.item_id, "done", 1, output, engine="indexnow")


def finish(jobs: IndexJobs) -> None:
    jobs.finish("index_submit", tell)


def test_a_job_that_submits_counts_what_was_taken_and_charges_for_it(jobs: IndexJobs) -> None:
    answer = jobs.create(HERE, LIMITED, KEYLESS, HERE)
    job_id = answer.json["job_id"]
    running = jobs.get(f"/indexing/jobs/{job_id}").json

    finish(jobs)

    assert answer.status == 201
    assert answer.json == {"job_id": job_id, "type": "submit", "total_urls": 3, "status": "running"}
    assert (running["type"], running["submitted_count"], running["pending_count"]) == ("submit", 0, 3)
    job = jobs.get(f"/indexing/jobs/{job_id}").json
    counts = [job[name] for name in ("submitted_count", "indexed_count", "failed_count", "rate_limited_count")]
    assert (job["status"], counts, job["eta"]) == ("complete", [1, 0, 2, 1], None)
    assert jobs.get(f"/jobs/{job_id}/result").json == job
    paid = jobs.get(f"/jobs/{job_id}").json["credits"]
    assert paid == {"held": 3, "captured": 1, "released": 2}


def test_its_urls_say_what_became_of_them(jobs: IndexJobs) -> None:
    job_id = jobs.create(HERE, LIMITED, KEYLESS).json["job_id"]
    finish(jobs)

    records = jobs.get(f"/indexing/jobs/{job_id}/urls").json
    assert [record["search_status"] for record in records] == ["accepted", "quota", "key_invalid"]
    assert [record["is_indexed"] for record in records] == [None] * 3
    assert [record["raw_result"]["reason"] for record in records] == ["submitted", "rate_limited", "error"]
    assert "search_status" not in records[0]["raw_result"]
    page = jobs.get(f"/indexing/jobs/{job_id}/urls?reason=submitted").json
    assert [record["url"] for record in page] == [HERE]
    table = jobs.get(f"/indexing/jobs/{job_id}/export").body.decode()
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["reason"], row["search_status"], row["provider"]) for row in rows] == [
        ("submitted", "accepted", "indexnow"),
        ("rate_limited", "quota", "indexnow"),
        ("error", "key_invalid", "indexnow"),
    ]


def test_jobs_are_listed_by_their_type(jobs: IndexJobs) -> None:
    told = jobs.create(HERE).json["job_id"]
    checked = jobs.create(HERE, type="check").json["job_id"]

    def listed(query: str) -> list[tuple[str, str]]:
        page = jobs.get(f"/indexing/jobs{query}")
        assert page.headers["x-total-count"] == str(len(page.json))
        return [(job["id"], job["type"]) for job in page.json]

    assert listed("?type=submit") == [(told, "submit")]
    assert listed("?type=check") == [(checked, "check")]
    assert listed("") == [(checked, "check"), (told, "submit")]
    assert [job["id"] for job in jobs.get("/jobs?kind=index_submit").json] == [told]
    jobs.post(f"/jobs/{checked}/cancel", {})


def test_what_was_not_taken_is_submitted_again(jobs: IndexJobs) -> None:
    job_id = jobs.create(HERE, LIMITED, KEYLESS, source="wordpress", engine="indexnow").json["job_id"]
    finish(jobs)

    again = jobs.post(f"/indexing/jobs/{job_id}/retry", {"reason": "rate_limited"})

    assert (again.status, again.json["type"], again.json["total_urls"]) == (201, "submit", 1)
    urls = jobs.get(f"/indexing/jobs/{again.json['job_id']}/urls").json
    assert [record["url"] for record in urls] == [LIMITED]


def test_a_job_that_waits_says_until_when(jobs: IndexJobs, api_database_url: str) -> None:
    def hours(job_id: str) -> float:
        job = jobs.get(f"/indexing/jobs/{job_id}").json
        return (datetime.fromisoformat(job["eta"]) - datetime.now(UTC)) / timedelta(hours=1)

    job_id = jobs.create(HERE).json["job_id"]
    assert hours(job_id) == pytest.approx(0, abs=0.1)
    (item,) = jobs.database.run(claim({"index_submit": 1}, lease_for=timedelta(seconds=30)))
    error = {"message": "IndexNow asks for patience.", "code": "throttled", "search_status": "throttled"}
    put_off = Outcome(item.item_id, "retry", error=error, after=timedelta(hours=3))
    jobs.database.run(report(item.lease_id, [put_off]))

    assert hours(job_id) == pytest.approx(3, abs=0.1)
    (record,) = jobs.get(f"/indexing/jobs/{job_id}/urls").json
    assert (record["status"], record["search_status"]) == ("pending", None)
    assert record["last_error"] == "IndexNow asks for patience."
    jobs.post(f"/jobs/{job_id}/cancel", {})
    (record,) = jobs.get(f"/indexing/jobs/{job_id}/urls").json
    assert (record["status"], record["raw_result"]["code"]) == ("failed", "cancelled")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"engine": "duckduckgo"}, "engine_unknown"),
        ({"urls": ["ftp://e.example/"]}, "urls_invalid"),
    ],
)
def test_what_can_not_be_submitted_is_refused(jobs: IndexJobs, more: dict[str, object], code: str) -> None:
    answer = jobs.post("/indexing/jobs", {"type": "submit", "urls": [HERE], **more})

    assert (answer.status, answer.code) == (400, code)


def test_it_is_not_available_by_default(service: Service, client: Payer) -> None:
    answer = service.post("/indexing/jobs", {"type": "submit", "urls": [HERE]}, client.api_key)

    assert (answer.status, answer.code) == (400, "type_not_available")
    assert service.get("/indexing/jobs?type=submit", client.api_key).json == []
