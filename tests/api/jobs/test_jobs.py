"""Jobs, for whoever asks later."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

from http_service import Service
from manual_worker import ManualWorker, refuse
from payers import Payer, open_account

from pipeline import lifecycle
from pipeline.accounts.keys import add_key, make_key
from pipeline.database import Database, Statement
from pipeline.lifecycle import Beat, Outcome


def test_jobs_are_listed_newest_first_in_pages(service: Service, client: Payer) -> None:
    jobs = [service.submit({"text": str(n)}, client.api_key) for n in range(5)]
    page = service.get("/jobs?limit=2&offset=2", client.api_key)
    assert [job["id"] for job in page.json] == [jobs[2], jobs[1]]
    assert page.headers["x-total-count"] == "5"
    assert page.headers["link"] == (
        '</jobs?limit=2&offset=0>; rel="first", </jobs?limit=2&offset=0>; rel="prev", '
        '</jobs?limit=2&offset=4>; rel="next"'
    )


def test_links_keep_filters_and_leave_the_key_out(service: Service, client: Payer) -> None:
    for _ in range(2):
        service.submit({"text": "hi"}, client.api_key)
    link = service.get(f"/jobs?kind=echo&limit=1&api_key={client.api_key}").headers["link"]
    assert '</jobs?kind=echo&limit=1&offset=1>; rel="next"' in link
    assert client.api_key not in link


def test_a_list_past_its_end_is_empty_and_still_says_how_long_it_is(service: Service, client: Payer) -> None:
    service.submit({"text": "hi"}, client.api_key)
    page = service.get("/jobs?offset=7", client.api_key)
    assert (page.json, page.headers["x-total-count"]) == ([], "1")


def test_another_accounts_job_a_missing_and_a_malformed_id_answer_alike(
    service: Service, client: Payer, api_database: Database
) -> None:
    other = open_account(api_database)
    job_id = service.submit({"text": "hi"}, other.api_key)
    odd = [job_id, str(uuid4()), "1", job_id.replace("-", ""), f"{{{job_id}}}", "%00", "x" * 500, "null"]
    for path in ("/jobs/{}", "/jobs/{}/result", "/jobs/{}/events", "/jobs/{}/cancel"):
        method = "POST" if path.endswith("cancel") else "GET"
        answers = [service.request(method, path.format(one), headers={"X-API-Key": client.api_key}) for one in odd]
        bodies = {json.dumps({**answer.json, "request_id": ""}) for answer in answers}
        assert {answer.status for answer in answers} == {404}
        assert len(bodies) == 1, bodies


def test_any_key_of_the_account_reads_its_jobs(service: Service, client: Payer, api_database: Database) -> None:
    second = make_key()
    api_database.run(add_key(client.account_id, second, "second"))
    job_id = service.submit({"text": "hi"}, client.api_key)
    assert service.get(f"/jobs/{job_id}", second.secret).status == 200


# Progress


def test_progress_counts_items(service: Service, client: Payer, manual_worker: ManualWorker) -> None:
    job_id = service.submit({"items": 3}, client.api_key, "/many")
    items = manual_worker.database.run(lifecycle.claim({"many": 2}, lease_for=timedelta(seconds=30)))
    outcomes = [Outcome(items[0].item_id, "done", 1, {}), Outcome(items[1].item_id, "failed", error={})]
    manual_worker.database.run(lifecycle.report(items[0].lease_id, outcomes))
    job = service.get(f"/jobs/{job_id}", client.api_key).json
    assert job["state"] == "running"
    assert job["progress"] == {"done": 1, "total": 3, "failed": 1, "unit": "things"}


def test_progress_of_one_item_is_what_its_worker_says(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    [item] = manual_worker.database.run(lifecycle.claim({"echo": 1}, lease_for=timedelta(seconds=30)))
    beat = Beat(item.lease_id, item.item_id, progress={"done": 40, "total": 100})
    manual_worker.database.run(lifecycle.heartbeat([beat], lease_for=timedelta(seconds=30)))
    running = service.get(f"/jobs/{job_id}", client.api_key).json
    assert running["progress"] == {"done": 40, "total": 100, "failed": 0, "unit": "texts"}
    manual_worker.database.run(lifecycle.report(item.lease_id, [Outcome(item.item_id, "done", 3, {})]))
    done = service.get(f"/jobs/{job_id}", client.api_key).json
    assert (done["state"], done["progress"]["done"]) == ("succeeded", 100)


# Results


def test_a_result_is_what_the_waiting_route_answered(service: Service, client: Payer, worker: ManualWorker) -> None:
    waited = service.post("/echo", {"text": "hi"}, client.api_key)
    read = service.get(f"/jobs/{waited.headers['x-job-id']}/result", client.api_key)
    own = {"x-request-id", "date", "x-ratelimit-remaining", "x-ratelimit-reset"}
    assert (read.status, read.body) == (waited.status, waited.body)
    assert {k: v for k, v in read.headers.items() if k not in own} == {
        k: v for k, v in waited.headers.items() if k not in own
    }


def test_a_failure_is_told_later_as_it_was_told_then(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(service.post, "/echo", {"text": "hi"}, client.api_key)
        manual_worker.work_until_done(refuse)
    waited = answer.result()
    read = service.get(f"/jobs/{waited.headers['x-job-id']}/result", client.api_key)
    assert (read.status, read.body) == (waited.status, waited.body) == (400, waited.body)


def test_a_result_can_not_be_had_before_there_is_one(service: Service, client: Payer) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    answer = service.get(f"/jobs/{job_id}/result", client.api_key)
    assert (answer.status, answer.code, answer.json["error"]) == (409, "job_not_finished", "Conflict")
    assert int(answer.headers["retry-after"]) > 0


def test_a_result_is_gone_after_its_time(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work()
    api_database.run(
        Statement("UPDATE job SET expires_at = now() - interval '1 s' WHERE id = %(id)s RETURNING 1", {"id": job_id})
    )
    answer = service.get(f"/jobs/{job_id}/result", client.api_key)
    assert (answer.status, answer.code, answer.json["error"]) == (410, "result_expired", "Gone")
    assert service.get(f"/jobs/{job_id}", client.api_key).json["state"] == "succeeded"


# Cancel


def test_a_cancelled_job_ends_at_once_and_tells_who_waits(
    service: Service, client: Payer, api_database: Database
) -> None:
    name = uuid4().hex
    with ThreadPoolExecutor() as pool:
        job_id = service.submit({"text": "hi"}, client.api_key, Idempotency_Key=name)
        waiting = pool.submit(service.post, "/echo", {"text": "hi"}, client.api_key, Idempotency_Key=name)
        cancelled = service.post_bytes(f"/jobs/{job_id}/cancel", b"", client.api_key)
        answer = waiting.result()
    assert cancelled.status == 200
    assert cancelled.json["state"] == "cancelled"
    assert cancelled.json["credits"] == {"held": 3, "captured": 0, "released": 3}
    assert (answer.status, answer.code) == (409, "job_cancelled")


def test_a_job_that_has_ended_is_not_cancelled(service: Service, client: Payer, manual_worker: ManualWorker) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work()
    answer = service.post_bytes(f"/jobs/{job_id}/cancel", b"", client.api_key)
    assert (answer.status, answer.json["state"]) == (200, "succeeded")


def test_a_job_of_a_kind_that_this_process_does_not_know_is_still_listed(
    service: Service, client: Payer, api_database: Database
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    api_database.run(
        Statement(
            "UPDATE job SET kind = 'of_tomorrow', state = 'succeeded', finished_at = now(), items_ok = 1"
            " WHERE id = %(id)s RETURNING 1",
            {"id": job_id},
        )
    )
    [job] = service.get("/jobs", client.api_key).json
    assert (job["kind"], job["progress"]["unit"]) == ("of_tomorrow", None)
    answer = service.get(f"/jobs/{job_id}/result", client.api_key)
    assert (answer.code, answer.headers["retry-after"]) == ("kind_unknown", "1")


def test_a_cancellation_is_refused_in_the_order_of_all_routes(service: Service, client: Payer) -> None:
    path = f"/jobs/{service.submit({'text': 'hi'}, client.api_key)}/cancel"
    assert service.post_bytes(path, b"{", "nobody").status == 401
    assert service.post_bytes(path, b"{", client.api_key).status == 400
    assert service.post_bytes(path, b"{").status == 400
    assert service.post(path, {}).status == 401
    assert service.post_bytes(path, b" " * (2**20 + 1), "nobody").status == 413
    assert service.post(path, {"api_key": client.api_key}).json["state"] == "cancelled"
