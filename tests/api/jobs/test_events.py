"""Server-sent events of a job."""

import http.client
import json
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from http_service import Service, Start
from manual_worker import ManualWorker
from payers import Payer
from waiting import wait_for

from pipeline import lifecycle
from pipeline.lifecycle import Outcome


@pytest.fixture
def follow() -> Iterator[Any]:
    """A function that follows a job: it gives back an iterator over its events."""
    connections = []

    def open_stream(service: Service, job_id: str, key: str) -> Iterator[tuple[str, Any]]:
        connection = service.connect()
        connections.append(connection)
        connection.request("GET", f"/jobs/{job_id}/events", headers={"X-API-Key": key})
        response = connection.getresponse()
        assert response.status == 200
        assert response.getheader("Content-Type") == "text/event-stream"
        assert response.getheader("Cache-Control") == "no-store"
        return read_events(response)

    yield open_stream
    for connection in connections:
        connection.close()


def read_events(response: http.client.HTTPResponse) -> Iterator[tuple[str, Any]]:
    event = ""
    for line in response:
        if line.startswith(b"event: "):
            event = line[7:].strip().decode()
        elif line.startswith(b"data: "):
            yield event, json.loads(line[6:])


def test_events_tell_of_each_change_and_of_the_end(
    service: Service, client: Payer, manual_worker: ManualWorker, follow: Any
) -> None:
    job_id = service.submit({"items": 2}, client.api_key, "/many")
    events = follow(service, job_id, client.api_key)
    name, job = next(events)
    assert (name, job["state"], job["progress"]["done"]) == ("progress", "queued", 0)
    [first] = manual_worker.database.run(lifecycle.claim({"many": 1}, lease_for=timedelta(seconds=30)))
    manual_worker.database.run(lifecycle.report(first.lease_id, [Outcome(first.item_id, "done", 1, {})]))
    name, job = next(events)
    while job["progress"]["done"] == 0:  # the look by the clock may fall between claim and report
        name, job = next(events)
    assert (name, job["state"], job["progress"]["done"]) == ("progress", "running", 1)
    manual_worker.work()
    [(name, job)] = list(events)
    assert (name, job["state"], job["credits"]["captured"]) == ("ended", "succeeded", 2)


def test_the_end_is_told_at_once(told: tuple[Service, ManualWorker], client: Payer, follow: Any) -> None:
    service, manual_worker = told
    for _ in range(5):
        job_id = service.submit({"text": "hi"}, client.api_key)
        events = follow(service, job_id, client.api_key)
        next(events)
        manual_worker.work()
        assert next(events)[0] == "ended"  # by the clock, in an hour


def test_a_job_that_has_ended_has_one_event(
    service: Service, client: Payer, manual_worker: ManualWorker, follow: Any
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work()
    [(name, job)] = list(follow(service, job_id, client.api_key))
    assert (name, job) == ("ended", service.get(f"/jobs/{job_id}", client.api_key).json)


def test_events_come_without_redis_and_end_at_a_restart(
    start: Start, client: Payer, manual_worker: ManualWorker, follow: Any, tmp_path: Path
) -> None:
    with start(redis_url=f"unix://{tmp_path}/nothing.sock") as service:
        done, open_one = (service.submit({"text": text}, client.api_key) for text in ("hi", "ho"))
        events = follow(service, done, client.api_key)
        assert next(events)[0] == "progress"
        manual_worker.database.run(lifecycle.cancel(UUID(done), client.account_id))
        assert [name for name, _ in events] == ["ended"]
        events = follow(service, open_one, client.api_key)
        assert next(events)[0] == "progress"
        service.signal(signal.SIGTERM)
        assert list(events) == []


def test_events_of_a_deleted_key_end(service: Service, client: Payer, follow: Any) -> None:
    key = service.post("/keys", {"name": "short"}, client.api_key).json
    events = follow(service, service.submit({"text": "hi"}, client.api_key), key["api_key"])
    assert next(events)[0] == "progress"
    assert service.request("DELETE", f"/keys/{key['id']}", headers={"X-API-Key": client.api_key}).status == 204
    assert list(events) == []


def test_who_follows_takes_a_place_and_gives_it_back(
    start: Start, client: Payer, manual_worker: ManualWorker, follow: Any
) -> None:
    with start(API__MAX_WAITING="1") as service:
        done = service.submit({"text": "hi"}, client.api_key)
        manual_worker.work()
        job_id = service.submit({"text": "hi"}, client.api_key)
        connection = service.connect()
        connection.request("GET", f"/jobs/{job_id}/events", headers={"X-API-Key": client.api_key})
        response = connection.getresponse()
        assert response.status == 200
        refused = service.get(f"/jobs/{job_id}/events", client.api_key)
        assert (refused.status, refused.code) == (503, "too_many_waiting")
        assert int(refused.headers["retry-after"]) > 0
        assert [name for name, _ in follow(service, done, client.api_key)] == ["ended"]
        response.close()
        connection.close()
        wait_for(lambda: service.post("/echo", {"text": "hi"}, client.api_key, Prefer="wait=1").status == 202)
        assert next(follow(service, job_id, client.api_key))[0] == "progress"
