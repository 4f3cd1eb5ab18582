"""Lists of index jobs and URLs, by what became of them and by date."""

from http_service import Service
from manual_worker import ManualWorker, refuse
from payers import Payer

from pipeline import lifecycle
from pipeline.database import Database, Statement
from pipeline.lifecycle import ClaimedItem, Outcome

SENT = {"type": "check", "urls": ["https://example.org/a", "https://example.org/b"]}


def submit(service: Service, client: Payer) -> str:
    return str(service.post("/indexing/jobs", SENT, client.api_key).json["job_id"])


def test_index_jobs_are_filtered_by_status_and_date(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    manual_worker.lanes = {"index_check": 10}
    complete = submit(service, client)
    manual_worker.work(refuse)
    cancelled = submit(service, client)
    service.post_bytes(f"/jobs/{cancelled}/cancel", b"", client.api_key)
    expired = submit(service, client)
    sql = "UPDATE job SET deadline = now() - interval '1 ms' WHERE id = %(id)s RETURNING 1"
    api_database.run(Statement(sql, {"id": expired}))
    assert str(api_database.run(lifecycle.expire())) == expired
    running = submit(service, client)
    sql = "UPDATE job SET created_at = '2026-05-04' WHERE id = %(id)s RETURNING 1"
    api_database.run(Statement(sql, {"id": running}))

    for query, wanted in [
        ("status=complete", [complete]),
        ("status=cancelled,failed", [expired, cancelled]),
        ("status=running", [running]),
        ("to=2026-05-04", [running]),
        ("from=2026-05-05", [expired, cancelled, complete]),
    ]:
        listed = service.get(f"/indexing/jobs?{query}", client.api_key)
        assert [job["id"] for job in listed.json] == wanted, query
        assert {job["status"] for job in listed.json} <= set(query.removeprefix("status=").split(",")) or "-" in query
    assert service.get("/indexing/jobs?status=lost", client.api_key).code == "parameter_invalid"


def test_urls_are_filtered_by_several_statuses_and_reasons(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    manual_worker.lanes = {"index_check": 10}
    job_id = submit(service, client)

    def find(item: ClaimedItem) -> Outcome:
        if item.index:
            return refuse(item)
        return Outcome(item.item_id, "done", 1, {"reason": "indexed", "provider": "made-up"})

    manual_worker.work(find)
    for query, count in [
        ("status=done,failed", 2),
        ("reason=indexed,error", 2),
        ("reason=not_indexed,rate_limited", 0),
    ]:
        assert len(service.get(f"/indexing/jobs/{job_id}/urls?{query}", client.api_key).json) == count, query


def test_a_retry_at_the_route_of_all_jobs_leaves_out_what_can_not_be_checked(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    sent = {**SENT, "urls": [*SENT["urls"], "no url at all"], "skip_invalid": True}
    job_id = service.post("/indexing/jobs", sent, client.api_key).json["job_id"]
    manual_worker.lanes = {"index_check": 10, "index_check_faulty": 10}
    manual_worker.work(refuse)
    manual_worker.work(refuse)

    again = service.post_bytes(f"/jobs/{job_id}/retry", b"", client.api_key)

    assert (again.status, again.json["progress"]["total"]) == (202, 2)
    urls = service.get(f"/indexing/jobs/{again.json['id']}/urls", client.api_key).json
    assert [url["url"] for url in urls] == SENT["urls"]
