"""Jobs deleted and tried again by their account."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from browser import sign_in
from http_service import Answer, Service, Start
from manual_worker import ManualWorker, deliver, refuse
from payers import Payer, discrepancies_of, open_account
from workbench import submission

from pipeline import lifecycle
from pipeline.accounts.keys import add_key, make_key
from pipeline.database import Database, Row, Statement
from pipeline.jobs.job_ends import tell_ends
from pipeline.lifecycle import ClaimedItem, Outcome
from pipeline.lifecycle.jobs import find_items
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, artifact_key, open_store, upload_key

SECRET = "a text that nobody else should read"


def delete(service: Service, job_id: str, key: str) -> Answer:
    return service.request("DELETE", f"/jobs/{job_id}", headers={"X-API-Key": key})


def retry(service: Service, job_id: str, key: str, **headers: str) -> Answer:
    return service.post_bytes(f"/jobs/{job_id}/retry", b"", key, **headers)


def row_of(database: Database, job_id: str) -> Row:
    (row,) = database.run(Statement("SELECT * FROM job WHERE id = %(id)s", {"id": job_id}))
    return row


def ledger_of(database: Database, payer: Payer) -> list[Row]:
    return database.run(
        Statement(
            "SELECT * FROM credit_entry WHERE account_id = %(account)s ORDER BY id", {"account": payer.account_id}
        )
    )


def every_other(item: ClaimedItem) -> Outcome:
    return refuse(item) if item.index % 2 else deliver(item)


# Delete


def test_a_deleted_job_keeps_its_summary_and_no_word_of_its_request_or_answer(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    job_id = service.submit({"text": SECRET}, client.api_key)
    manual_worker.work()
    before, ledger = service.get(f"/jobs/{job_id}", client.api_key).json, ledger_of(api_database, client)

    answer = delete(service, job_id, client.api_key)

    assert (answer.status, answer.body) == (204, b"")
    after = service.get(f"/jobs/{job_id}", client.api_key).json
    assert {**after, "expires_at": ""} == {**before, "expires_at": ""}
    assert after["expires_at"] < before["expires_at"]
    assert SECRET not in json.dumps(row_of(api_database, job_id), default=str)
    assert api_database.run(find_items(UUID(job_id))) == []
    assert ledger_of(api_database, client) == ledger
    assert discrepancies_of(api_database, client) == []
    result = service.get(f"/jobs/{job_id}/result", client.api_key)
    assert (result.status, result.code) == (410, "result_deleted")


def test_what_a_job_made_is_deleted_with_it_and_nothing_else(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    artifacts = Artifacts(open_store(Settings(data=service.data)))
    kept, job_id = uuid4(), service.submit({"text": "hi"}, client.api_key)
    now = row_of(manual_worker.database, job_id)["created_at"]
    keys = [
        artifact_key(expires_on=(now + timedelta(days=days)).date(), job_id=job, index=0, lease_id=uuid4())
        for days in (1, 8)
        for job in (UUID(job_id), kept)
    ] + [upload_key(UUID(job_id), "music")]
    for key in keys:
        artifacts.put(key, b"sound")
    manual_worker.work()

    assert delete(service, job_id, client.api_key).status == 204

    assert [key for key in keys if (service.data / "artifacts" / key).exists()] == [keys[1], keys[3]]


def test_a_job_that_has_not_ended_is_not_deleted(service: Service, client: Payer) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    answer = delete(service, job_id, client.api_key)
    assert (answer.status, answer.code) == (409, "job_not_finished")
    assert f"/jobs/{job_id}/cancel" in answer.json["message"]
    assert service.get(f"/jobs/{job_id}", client.api_key).json["state"] == "queued"


def test_a_job_of_many_items_is_deleted_whole_and_again_without_harm(
    service: Service, client: Payer, api_database: Database
) -> None:
    big = submission(client, [0] * 2_500, kind="many", request={"note": SECRET})
    submitted = api_database.run(lifecycle.submit(big))
    job_id = str(submitted.job_id)
    service.post_bytes(f"/jobs/{job_id}/cancel", b"", client.api_key)

    assert [delete(service, job_id, client.api_key).status for _ in range(2)] == [204, 204]

    assert api_database.run(find_items(UUID(job_id))) == []
    assert row_of(api_database, job_id)["purged_at"] is not None


def test_what_broke_off_is_gone_for_readers_and_left_to_the_sweep(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    job_id = service.submit({"items": 3}, client.api_key, "/many")
    manual_worker.work()
    step = lifecycle.erase(UUID(job_id), client.account_id)
    api_database.run(Statement(step.sql, {**step.parameters, "limit": 2}, step.read))
    assert len(api_database.run(find_items(UUID(job_id)))) == 1
    assert service.get(f"/jobs/{job_id}/result", client.api_key).code == "result_deleted"

    while api_database.run(lifecycle.purge()) is not None:
        pass  # what has expired, but nothing of this job: its files go first
    assert len(api_database.run(find_items(UUID(job_id)))) == 1
    assert not api_database.run(lifecycle.erased(UUID(job_id)))
    assert row_of(api_database, job_id)["purged_at"] is None

    assert delete(service, job_id, client.api_key).status == 204
    assert row_of(api_database, job_id)["purged_at"] is not None


def test_the_error_of_a_deleted_job_no_longer_quotes_its_request(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)

    def quote(item: ClaimedItem) -> Outcome:
        error = {
            "status": 400,
            "error": "Invalid Request",
            "message": f"{SECRET!r} is odd.",
            "code": "odd",
            "text": SECRET,
        }
        return Outcome(item.item_id, "failed", 0, error=error)

    manual_worker.work(quote)
    assert delete(service, job_id, client.api_key).status == 204

    job = service.get(f"/jobs/{job_id}", client.api_key)
    assert SECRET.encode() not in job.body
    assert (job.json["state"], job.json["error"]["code"]) == ("failed", "odd")


@pytest.mark.parametrize("told_before", [True, False])
def test_what_webhooks_were_told_of_a_deleted_job_loses_its_words(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database, told_before: bool
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    sql = (
        "UPDATE job SET webhook_url = 'https://example.org/', request = jsonb_build_object('name', %(text)s::text)"
        " WHERE id = %(id)s RETURNING 1"
    )
    api_database.run(Statement(sql, {"id": job_id, "text": SECRET}))
    error = {"status": 400, "error": "Invalid Request", "message": SECRET, "code": "odd"}
    manual_worker.work(lambda item: Outcome(item.item_id, "failed", 0, error=error))
    read: Statement[list[Row]] = Statement(
        "SELECT body, state FROM webhook_delivery WHERE job_id = %(id)s", {"id": job_id}
    )
    if told_before:
        tell_ends(api_database)
        assert api_database.run(read)[0]["body"].count(SECRET) == 2

    assert delete(service, job_id, client.api_key).status == 204
    tell_ends(api_database)

    (told,) = api_database.run(read)
    data = json.loads(told["body"])["data"]
    assert (data["id"], data["name"], data["error"]["code"]) == (job_id, None, "odd")
    assert SECRET not in told["body"]
    assert told["state"] == "pending"


def test_an_idempotency_key_of_a_deleted_job_makes_no_new_one(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    sent: Any = ({"text": "hi"}, client.api_key)
    job_id = service.submit(*sent, Idempotency_Key="once")
    manual_worker.work()
    delete(service, job_id, client.api_key)
    ledger = ledger_of(api_database, client)

    again = service.post("/echo", *sent, Idempotency_Key="once")

    assert (again.status, again.code) == (410, "result_deleted")
    assert ledger_of(api_database, client) == ledger


def test_only_an_accounts_own_jobs_are_changed(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    job_id = service.submit({"text": "hi"}, open_account(api_database).api_key)
    manual_worker.work(refuse)
    for odd in (job_id, str(uuid4()), "1", "%00"):
        for answer in (delete(service, odd, client.api_key), retry(service, odd, client.api_key)):
            assert (answer.status, answer.code) == (404, "job_not_found")
    assert len(api_database.run(find_items(UUID(job_id)))) == 1
    assert delete(service, job_id, "nobody").status == retry(service, job_id, "nobody").status == 401


# Retry


def test_a_retry_asks_for_what_was_not_delivered(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    job_id = service.submit({"items": 5}, client.api_key, "/many")
    manual_worker.work(every_other)

    answer = retry(service, job_id, client.api_key)

    assert answer.status == 202
    assert answer.headers["location"] == f"/jobs/{answer.json['id']}"
    assert answer.json["id"] != job_id
    assert answer.json["progress"]["total"] == answer.json["credits"]["held"] == 2
    assert answer.headers["x-credits-remaining"] == "995"
    manual_worker.work()
    result = service.get(f"/jobs/{answer.json['id']}/result", client.api_key).json
    assert [one["input"]["number"] for one in result["results"]] == [1, 3]
    assert service.get("/usage", client.api_key).json["usage_by_endpoint"] == {"/many": 2}
    assert discrepancies_of(api_database, client) == []


@pytest.mark.parametrize("headers", [{}, {"Idempotency_Key": "again"}])
def test_a_retry_of_a_retry_that_runs_is_that_job(
    service: Service, client: Payer, manual_worker: ManualWorker, headers: dict[str, str]
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work(refuse)
    first, second = (retry(service, job_id, client.api_key, **headers).json["id"] for _ in range(2))
    assert first == second
    manual_worker.work()
    third = retry(service, job_id, client.api_key, **headers).json["id"]
    assert (third == first) == bool(headers)


def test_a_retry_has_a_key_of_its_own_which_is_remembered_for_the_hours_that_are_set(
    start: Start, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    with start(LIMITS__IDEMPOTENCY_HOURS="1") as service:
        job_id = service.submit({"items": 5}, client.api_key, "/many", Idempotency_Key="first")
        manual_worker.work(every_other)
        refused = retry(service, job_id, client.api_key, Idempotency_Key="first")
        retried = retry(service, job_id, client.api_key, Idempotency_Key="second").json["id"]
        manual_worker.work(every_other)
        older = "UPDATE job SET created_at = created_at - interval '61 minutes' WHERE id = %(id)s RETURNING id"
        api_database.run(Statement(older, {"id": retried}))
        again = retry(service, job_id, client.api_key, Idempotency_Key="second").json["id"]

    assert (refused.status, refused.code) == (422, "idempotency_key_reused")
    assert "use a new one, also to retry a job" in refused.json["message"]
    assert again != retried


def test_a_job_that_was_delivered_or_runs_or_is_deleted_is_not_tried_again(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    done = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work()
    assert retry(service, done, client.api_key).code == "nothing_to_retry"
    running = service.submit({"text": "hi"}, client.api_key)
    assert retry(service, running, client.api_key).code == "job_not_finished"
    manual_worker.work(refuse)
    delete(service, running, client.api_key)
    assert retry(service, running, client.api_key).code == "result_deleted"


def test_a_job_whose_files_are_gone_is_not_tried_again(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    submitted = api_database.run(lifecycle.submit(submission(client, kind="files", route="/files-in")))
    manual_worker.work(refuse)
    answer = retry(service, str(submitted.job_id), client.api_key)
    assert (answer.status, answer.code) == (409, "nothing_to_retry")
    assert "/files-in" in answer.json["message"]
    page = sign_in(service, api_database, client).get(f"/dashboard/jobs/{submitted.job_id}").body.decode()
    assert ">Retry<" not in page


def test_a_retry_is_paid_by_the_key_that_asks_for_it_and_counts_as_its_items(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    second = make_key()
    api_database.run(add_key(client.account_id, second, "second"))
    job_id = service.submit({"items": 4}, client.api_key, "/many")
    manual_worker.work(refuse)
    left = int(service.get("/usage", second.secret).headers["x-ratelimit-remaining"])

    answer = retry(service, job_id, second.secret)

    assert row_of(api_database, answer.json["id"])["api_key_id"] == second.id
    assert int(answer.headers["x-ratelimit-remaining"]) == left - 4


def test_a_retry_past_the_balance_is_refused(
    service: Service, manual_worker: ManualWorker, api_database: Database
) -> None:
    poor = open_account(api_database, credits=3)
    job_id = service.submit({"text": "hi"}, poor.api_key)
    manual_worker.work(refuse)
    service.submit({"text": "hi"}, poor.api_key)
    answer = retry(service, job_id, poor.api_key)
    assert (answer.status, answer.json["credits_required"]) == (402, 3)
