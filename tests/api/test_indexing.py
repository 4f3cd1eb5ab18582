"""The index routes: what they take, refuse and show."""

import csv
import io
from collections.abc import Iterator
from uuid import UUID

import pytest
import redis
from hands import Hands
from http_service import Answer, Service
from payers import Payer, open_account

from pipeline.database import Database
from pipeline.lifecycle import ClaimedItem, Outcome, claim, report

HERE, GONE, BLOCKED = "https://e.example/here", "https://e.example/gone", "https://e.example/blocked"


@pytest.fixture
def client(api_database: Database) -> Payer:
    return open_account(api_database, credits=30_000)


@pytest.fixture
def finder(api_database: Database, redis_server: str) -> Iterator[Hands]:
    """A worker for index checks."""
    with redis.Redis.from_url(redis_server) as connection:
        yield Hands(api_database, connection)


def create(service: Service, client: Payer, *urls: str, **more: object) -> Answer:
    return service.post("/indexing/jobs", {"type": "check", "urls": urls, **more}, client.api_key)


def find(item: ClaimedItem) -> Outcome:
    """Answer as the URL's last part says."""
    what = item.input["url"].rpartition("/")[2]
    if what == "blocked":
        error = {"status": 500, "error": "x", "message": "Blocked.", "code": "captcha", "reason": "rate_limited"}
        return Outcome(item.item_id, "failed", 0, error=error)
    reason = "indexed" if what == "here" else "not_indexed"
    return Outcome(item.item_id, "done", 1, {"reason": reason, "provider": "duckduckgo"}, engine="duckduckgo")


def finish(finder: Hands, kind: str = "index_check") -> None:
    from datetime import timedelta

    while items := finder.database.run(claim({kind: 1_000}, lease_for=timedelta(seconds=30))):
        finder.database.run(report(items[0].lease_id, [find(item) for item in items]))


def test_a_job_is_created_at_once_and_never_waited_for(service: Service, client: Payer, finder: Hands) -> None:
    answer = create(service, client, HERE, GONE, HERE)

    job_id = answer.json["job_id"]
    assert answer.status == 201
    assert answer.json == {"job_id": job_id, "type": "check", "total_urls": 2, "status": "running"}
    assert answer.headers["location"] == f"/indexing/jobs/{job_id}"
    job = service.get(f"/indexing/jobs/{job_id}", client.api_key).json
    assert UUID(job["id"])
    assert (job["status"], job["processed_urls"], job["pending_count"], job["error_message"]) == ("running", 0, 2, None)
    assert job["eta"]
    assert service.get(f"/jobs/{job_id}", client.api_key).json["kind"] == "index_check"
    finish(finder)
