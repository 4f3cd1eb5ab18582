"""Waiting: told by notices, by a look a second without them, and sent home at a restart."""

import signal
import socket
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from uuid import UUID, uuid4

from http_service import Answer, Service, Start
from manual_worker import ManualWorker
from payers import Payer, open_account
from servers import start_redis
from waiting import wait_for

from api.services.waiting import LOOK_EVERY_SECONDS
from pipeline.database import Database, Statement


def wait_for_jobs(database: Database, payer: Payer, count: int) -> list[UUID]:
    """Return the account's open jobs once there are so many."""
    read: Statement[list[UUID]] = Statement(
        "SELECT id FROM job WHERE account_id = %(account)s AND finished_at IS NULL",
        {"account": payer.account_id},
        lambda rows: [row["id"] for row in rows],
    )
    until = time.monotonic() + 120
    while len(found := database.run(read)) < count:
        assert time.monotonic() < until, found
        threading.Event().wait(0.01)
    return found


def test_a_notice_ends_a_wait_at_once(told: tuple[Service, ManualWorker], client: Payer) -> None:
    service, manual_worker = told
    with ThreadPoolExecutor() as pool:
        for _ in range(6):
            answer = pool.submit(service.post, "/echo", {"text": "hi"}, client.api_key)
            manual_worker.work_until_done()
            assert answer.result().status == 200  # by the clock, in an hour


def test_a_lost_notice_costs_about_a_second(service: Service, client: Payer, manual_worker: ManualWorker) -> None:
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(service.post, "/echo", {"text": "hi"}, client.api_key)
        manual_worker.work_until_done(tell=False)
        assert answer.result().status == 200  # by the clock, or never
    assert LOOK_EVERY_SECONDS == 1


def test_without_any_redis_requests_are_taken_and_answered(
    service_without_redis: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    service = service_without_redis
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(service.post, "/echo", {"text": "hi"}, client.api_key)
        manual_worker.work_until_done(tell=False)
        assert answer.result().status == 200
    assert answer.result().headers["x-ratelimit-remaining"] == "599"
    assert service.get("/jobs", client.api_key).status == 200
    assert service.get("/metrics").status == 200


def test_redis_that_comes_back_is_used_again(
    start: Start, client: Payer, manual_worker: ManualWorker, tmp_path: Path
) -> None:
    with start_redis(tmp_path / "redis") as url:
        pass
    with start(redis_url=url) as service, ThreadPoolExecutor() as pool:
        assert service.get("/readyz").json["missing"] == ["queue"]
        with start_redis(tmp_path / "redis"):
            wait_for(lambda: service.get("/readyz").status == 200)
            answer = pool.submit(service.post, "/echo", {"text": "hi"}, client.api_key)
            manual_worker.work_until_done(tell=False)
            assert answer.result().status == 200


def test_more_requests_than_may_wait_are_refused_and_hold_nothing(
    start: Start, client: Payer, api_database: Database, manual_worker: ManualWorker
) -> None:
    with start(API__MAX_WAITING="2") as service, ThreadPoolExecutor() as pool:
        waiting = [pool.submit(service.post, "/echo", {"text": "hi"}, client.api_key) for _ in range(2)]
        wait_for_jobs(api_database, client, 2)
        answer = service.post("/echo", {"text": "hi"}, client.api_key)
        assert (answer.status, answer.code) == (503, "too_many_waiting")
        assert int(answer.headers["retry-after"]) > 0
        assert len(wait_for_jobs(api_database, client, 2)) == 2
        while manual_worker.work():
            pass
        assert [one.result().status for one in waiting] == [200, 200]
        assert service.post("/echo", {"text": "hi"}, client.api_key, Prefer="wait=0").status == 202


def test_who_does_not_wait_needs_no_place_and_who_finds_none_is_not_counted(
    start: Start, api_database: Database
) -> None:
    free = open_account(api_database, tier="free")
    name = uuid4().hex
    with start(API__MAX_WAITING="0") as service:
        refused = service.post("/echo", {"text": "hi"}, free.api_key)
        assert (refused.status, refused.code, refused.headers["x-ratelimit-remaining"]) == (
            503,
            "too_many_waiting",
            "10",
        )
        first = service.post("/echo", {"text": "hi"}, free.api_key, Prefer="respond-async", Idempotency_Key=name)
        assert (first.status, first.headers["x-ratelimit-remaining"]) == (202, "9")
        again = service.post("/echo", {"text": "hi"}, free.api_key, Prefer="wait=0", Idempotency_Key=name)
        assert (again.status, again.json["id"]) == (202, first.json["id"])
        check = {"type": "check", "urls": ["https://example.com/"]}
        assert service.post("/indexing/jobs", check, free.api_key).status == 201


def test_a_request_that_a_restart_overtakes_is_told_that_nothing_was_made(
    start: Start, client: Payer, api_database: Database
) -> None:
    body = b'{"text": "hi"}'
    head = (
        f"POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: {client.api_key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with start() as stopping, ThreadPoolExecutor() as pool:
        waiting = pool.submit(stopping.post, "/echo", {"text": "hi"}, client.api_key)
        wait_for_jobs(api_database, client, 1)
        connection = socket.create_connection(("127.0.0.1", stopping.port), timeout=120)
        connection.sendall(head.encode() + body[:5])
        stopping.get("/healthz", client.api_key)
        stopping.signal(signal.SIGTERM)
        assert waiting.result().status == 503  # by now the API knows that it stops
        connection.sendall(body[5:])
        received = b"".join(iter(lambda: connection.recv(65_536), b"")).lower()
        connection.close()
    assert received.startswith(b"http/1.1 503 ")
    assert b'"restarting"' in received
    assert b"no job was made" in received
    assert b"retry-after: 1" in received
    assert b"location:" not in received


def test_a_restart_sends_waiting_requests_home_and_their_jobs_go_on(
    start: Start, service: Service, client: Payer, api_database: Database, manual_worker: ManualWorker
) -> None:
    name = uuid4().hex
    with start() as stopping, ThreadPoolExecutor() as pool:
        waiting: list[Future[Answer]] = [
            pool.submit(stopping.post, "/echo", {"text": "hi"}, client.api_key, Idempotency_Key=name),
            pool.submit(stopping.post, "/echo", {"text": "ho"}, client.api_key, Prefer="wait=100"),
        ]
        jobs = wait_for_jobs(api_database, client, 2)
        stopping.signal(signal.SIGTERM)
        answers = [one.result() for one in waiting]
        assert stopping.wait() == 0
    assert {(answer.status, answer.code) for answer in answers} == {(503, "restarting")}
    assert {UUID(answer.headers["x-job-id"]) for answer in answers} == set(jobs)
    assert answers[0].headers["location"] == f"/jobs/{answers[0].headers['x-job-id']}"
    assert int(answers[0].headers["retry-after"]) > 0
    while manual_worker.work():
        pass
    joined = service.post("/echo", {"text": "hi"}, client.api_key, Idempotency_Key=name)
    assert (joined.status, joined.headers["x-job-id"]) == (200, answers[0].headers["x-job-id"])


def test_a_client_that_leaves_does_not_lose_its_job(
    service: Service, client: Payer, api_database: Database, manual_worker: ManualWorker
) -> None:
    connection = service.connect()
    headers = {"X-API-Key": client.api_key, "Content-Type": "application/json"}
    connection.request("POST", "/echo", b'{"text": "hi"}', headers)
    [job_id] = wait_for_jobs(api_database, client, 1)
    connection.close()
    while manual_worker.work():
        pass
    assert service.get(f"/jobs/{job_id}/result", client.api_key).status == 200
