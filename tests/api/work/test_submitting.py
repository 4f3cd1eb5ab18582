"""POST of a kind: accepted, waited for, replayed, refused."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from http_service import Service, Start, looks_like_uuid
from manual_worker import ManualWorker, refuse
from payers import Payer, balance, open_account

from pipeline.database import Database, Statement
from pipeline.lifecycle import ClaimedItem, Outcome


def count_jobs(database: Database, payer: Payer) -> int:
    counted: Statement[int] = Statement(
        "SELECT count(*) AS n FROM job WHERE account_id = %(account)s",
        {"account": payer.account_id},
        lambda rows: rows[0]["n"],
    )
    return database.run(counted)


def test_a_request_that_prefers_not_to_wait_gets_its_job(service: Service, client: Payer) -> None:
    answer = service.post("/echo", {"text": "hi", "api_key": client.api_key}, Prefer="respond-async")
    assert answer.status == 202
    assert answer.headers["location"] == f"/jobs/{answer.json['id']}"
    assert answer.headers["preference-applied"] == "respond-async"
    assert answer.headers["x-job-id"] == answer.json["id"]
    assert answer.headers["x-credits-remaining"] == "997"
    assert looks_like_uuid(answer.json["id"])
    assert answer.json | {"id": "", "created_at": "", "request_id": "", "links": {}} == {
        "id": "",
        "kind": "echo",
        "state": "queued",
        "progress": {"done": 0, "total": 1, "failed": 0, "unit": "texts"},
        "credits": {"held": 3, "captured": 0, "released": 0},
        "error": None,
        "created_at": "",
        "started_at": None,
        "finished_at": None,
        "expires_at": None,
        "engine": None,
        "route": "/echo",
        "source": "api",
        "priority": "normal",
        "name": None,
        "request_id": "",
        "links": {},
    }


def test_the_first_document_of_a_job_is_the_one_that_is_read_later(service: Service, client: Payer) -> None:
    answer = service.post("/echo", {"text": "hi", "source": "web"}, client.api_key, Prefer="respond-async")
    assert service.get(answer.headers["location"], client.api_key).json == answer.json


def test_a_waiting_request_gets_its_result(service: Service, client: Payer, worker: ManualWorker) -> None:
    answer = service.post("/echo", {"text": "hi"}, client.api_key)
    assert answer.status == 200
    assert answer.json == {"echo": {"input": {"text": "hi"}}, "credits_used": 3}
    assert answer.headers["x-credits-used"] == "3"
    assert answer.headers["x-credits-remaining"] == "997"
    assert answer.headers["x-engine"] == "made-up"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


def test_a_request_waits_no_longer_than_it_prefers(service: Service, client: Payer) -> None:
    answer = service.post("/echo", {"text": "hi"}, client.api_key, Prefer="wait=0")
    assert answer.status == 202
    assert answer.headers["preference-applied"] == "wait=0"
    answer = service.post("/echo", {"text": "hi"}, client.api_key, Prefer="wait=1")
    assert (answer.status, answer.json["state"]) == (202, "queued")


def test_a_request_that_waits_long_enough_gets_its_result(
    service: Service, client: Payer, worker: ManualWorker
) -> None:
    assert service.post("/echo", {"text": "hi"}, client.api_key, Prefer="respond-async, wait=20").status == 200


@pytest.mark.parametrize("prefer", ["respond-async;foo=bar", "return=minimal; x, wait=0;x", "Wait=0 ; x=1"])
def test_parameters_of_a_preference_are_passed_over(service: Service, client: Payer, prefer: str) -> None:
    assert service.post("/echo", {"text": "hi"}, client.api_key, Prefer=prefer).status == 202


def test_a_job_that_fails_answers_with_its_error(service: Service, client: Payer, manual_worker: ManualWorker) -> None:
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(service.post, "/echo", {"text": "hi"}, client.api_key)
        manual_worker.work_until_done(refuse)
    failed = answer.result()
    assert failed.status == 400
    assert failed.json["code"] == "cannot_be_done"
    assert failed.json["request_id"] == failed.headers["x-request-id"]
    assert "status" not in failed.json
    assert failed.headers["x-credits-used"] == "0"
    assert failed.headers["x-credits-remaining"] == "1000"


@pytest.mark.parametrize(("told", "header"), [({"retry_after_seconds": 7}, "7"), ({}, "1")])
def test_a_job_that_may_be_tried_again_says_when(
    service: Service, client: Payer, manual_worker: ManualWorker, told: dict[str, int], header: str
) -> None:
    error = {"status": 503, "error": "Service Unavailable", "message": "Not now.", "code": "not_now", **told}
    job_id = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work(lambda item: Outcome(item.item_id, "failed", 0, error=error))
    answer = service.get(f"/jobs/{job_id}/result", client.api_key)
    assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, "not_now", header)
    shown = service.get(f"/jobs/{job_id}", client.api_key).json["error"]
    assert set(shown) == {"error", "message", "code", "details"}
    assert list(answer.json) == ["error", "message", "code", "details", "request_id"]


def test_a_job_that_is_partly_done_answers_with_what_there_is(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    def odd(item: ClaimedItem) -> Outcome:
        return Outcome(item.item_id, "done", 1, {"n": item.index}) if item.index % 2 else refuse(item)

    with ThreadPoolExecutor() as pool:
        answer = pool.submit(service.post, "/many", {"items": 4}, client.api_key)
        manual_worker.work_until_done(odd)
    partial = answer.result()
    assert partial.status == 200
    assert [entry.get("n") for entry in partial.json["results"]] == [None, 1, None, 3]
    assert partial.headers["x-credits-used"] == "2"


def test_what_items_hold_is_not_kept_with_the_job(service: Service, client: Payer, api_database: Database) -> None:
    job_id = service.submit({"text": "long text", "choice": "b", "unknown": 1, "api_key": "x"}, client.api_key)
    row = api_database.run(Statement("SELECT request FROM job WHERE id = %(id)s", {"id": job_id}))
    assert row == [{"request": {"choice": "b"}}]


# Credits


def test_a_request_beyond_the_balance_is_refused_and_holds_nothing(service: Service, api_database: Database) -> None:
    poor = open_account(api_database, credits=2)
    answer = service.post("/echo", {"text": "hi"}, poor.api_key)
    assert answer.status == 402
    assert answer.json["error"] == "Insufficient Credits"
    assert (answer.json["credits_required"], answer.json["credits_remaining"]) == (3, 2)
    assert "the balance is 2" in answer.json["message"]
    assert count_jobs(api_database, poor) == 0
    assert balance(api_database, poor) == 2


def test_a_status_line_carries_the_phrase_of_its_status(service: Service, api_database: Database) -> None:
    connection = service.connect()
    headers = {"X-API-Key": open_account(api_database, credits=0).api_key, "Content-Type": "application/json"}
    connection.request("POST", "/echo", b'{"text": "hi"}', headers)
    response = connection.getresponse()
    assert (response.status, response.reason) == (402, "Payment Required")
    connection.close()


def test_more_open_items_than_an_account_may_have_are_refused(start: Start, api_database: Database) -> None:
    payer = open_account(api_database)
    with start(LIMITS__OPEN_ITEMS="5") as service:
        service.submit({"items": 4}, payer.api_key, "/many")
        answer = service.post("/many", {"items": 2}, payer.api_key, Prefer="respond-async")
    assert (answer.status, answer.code) == (429, "too_many_open_items")
    assert int(answer.headers["retry-after"]) > 0


# Idempotency-Key


def test_the_same_key_and_body_give_the_same_job(service: Service, client: Payer, api_database: Database) -> None:
    sent = {"Idempotency_Key": uuid4().hex}
    first = service.submit({"text": "hi"}, client.api_key, **sent)
    second = service.submit({"api_key": client.api_key, "text": "hi"}, client.api_key, **sent)
    assert first == second
    assert count_jobs(api_database, client) == 1
    assert balance(api_database, client) == 997


def test_a_replay_gets_the_answer_of_the_first(service: Service, client: Payer, worker: ManualWorker) -> None:
    sent = {"Idempotency_Key": uuid4().hex}
    first = service.post("/echo", {"text": "hi"}, client.api_key, **sent)
    second = service.post("/echo", {"text": "hi"}, client.api_key, **sent)
    assert (first.status, first.body, first.headers["x-job-id"]) == (
        second.status,
        second.body,
        second.headers["x-job-id"],
    )
    assert second.headers["x-credits-remaining"] == "997"


def test_many_replays_at_once_make_one_job_and_all_get_its_answer(
    service: Service, client: Payer, worker: ManualWorker, api_database: Database
) -> None:
    sent = {"Idempotency_Key": uuid4().hex}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: service.post("/echo", {"text": "hi"}, client.api_key, **sent), range(8)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.headers["x-job-id"] for answer in answers}) == 1
    assert count_jobs(api_database, client) == 1


def test_a_replay_of_an_open_job_joins_it(service: Service, client: Payer, manual_worker: ManualWorker) -> None:
    sent = {"Idempotency_Key": uuid4().hex}
    job_id = service.submit({"text": "hi"}, client.api_key, **sent)
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(service.post, "/echo", {"text": "hi"}, client.api_key, **sent)
        manual_worker.work_until_done()
    assert (answer.result().status, answer.result().headers["x-job-id"]) == (200, job_id)


def test_the_same_key_at_another_route_or_of_another_account_is_another_job(
    service: Service, client: Payer, api_database: Database
) -> None:
    sent = {"Idempotency_Key": uuid4().hex}
    other = open_account(api_database)
    jobs = {
        service.submit({"text": "hi"}, client.api_key, **sent),
        service.submit({"text": "hi"}, client.api_key, "/echo/again", **sent),
        service.submit({"text": "hi"}, other.api_key, **sent),
    }
    assert len(jobs) == 3


def test_a_key_is_remembered_for_its_hours(start: Start, client: Payer, api_database: Database) -> None:
    sent, hours = {"Idempotency_Key": uuid4().hex}, []
    with start(LIMITS__IDEMPOTENCY_HOURS="2") as service:
        first = service.submit({"text": "hi"}, client.api_key, **sent)
        for _ in range(2):
            older = "UPDATE job SET created_at = created_at - interval '61 minutes' WHERE id = %(id)s RETURNING id"
            api_database.run(Statement(older, {"id": first}))
            hours.append(service.submit({"text": "hi"}, client.api_key, **sent))
    assert hours[0] == first
    assert hours[1] != first


def test_a_refusal_does_not_use_a_key_up(service: Service, client: Payer) -> None:
    sent = {"Idempotency_Key": uuid4().hex}
    assert service.post("/echo", {"text": ""}, client.api_key, **sent).status == 400
    service.submit({"text": "hi"}, client.api_key, **sent)


@pytest.mark.parametrize("key", ["x" * 256, "", "é", "pr_live_" + "0" * 38])
def test_an_idempotency_key_that_is_none_is_refused(service: Service, client: Payer, key: str) -> None:
    answer = service.post("/echo", {"text": "hi"}, client.api_key, Idempotency_Key=key)
    assert (answer.status, answer.code) == (400, "idempotency_key_invalid")


# Request ids


def test_a_client_names_its_request_and_finds_its_job_by_that(service: Service, client: Payer) -> None:
    name = f"order-{uuid4().hex}"
    answer = service.post("/echo", {"text": "hi"}, client.api_key, Prefer="respond-async", X_Request_Id=name)
    assert answer.headers["x-request-id"] == name
    found = service.get(f"/jobs?request_id={name}", client.api_key).json
    assert [job["id"] for job in found] == [answer.json["id"]]


@pytest.mark.parametrize("name", ["x" * 129, "two words", "pr_live_abc", "é"])
def test_a_request_id_that_is_not_sane_is_replaced(service: Service, name: str) -> None:
    given = service.get("/healthz", X_Request_Id=name).headers["x-request-id"]
    assert given != name
    assert given.isalnum()


def test_a_large_request_is_looked_at_while_others_are_answered(
    service: Service, client: Payer, tmp_path: Path
) -> None:
    looking = tmp_path / "looking"
    wanted = {"items": 1, "looking": str(looking)}
    with ThreadPoolExecutor(1) as sender:
        sent = sender.submit(service.post, "/many", wanted, client.api_key, Prefer="respond-async")
        while not looking.exists():
            assert not sent.done()
            time.sleep(0.01)
        try:
            assert service.get("/healthz").status == 200
        finally:
            looking.unlink()
        assert sent.result().status == 202
