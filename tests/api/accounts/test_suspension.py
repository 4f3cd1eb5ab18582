"""A suspended account is refused everywhere, and its jobs end."""

from http_service import Service
from payers import Payer, open_account
from waiting import wait_for

from pipeline import lifecycle
from pipeline.database import Database


def suspend(database: Database, payer: Payer, *, suspended: bool = True) -> None:
    assert database.run(lifecycle.suspend_account(payer.account_id, suspended=suspended))


def wait_for_status(service: Service, payer: Payer, status: int) -> None:
    """Return once all processes know: each trusts a key that it has looked up for some seconds."""
    wait_for(lambda: service.get("/jobs", payer.api_key).status == status, seconds=60)


def test_a_suspended_account_is_refused_with_its_reason_until_it_goes_on(
    service: Service, api_database: Database
) -> None:
    payer = open_account(api_database)
    job_id = service.submit({"text": "hi"}, payer.api_key)
    suspend(api_database, payer)

    # At once, whatever a process still believes of the key: the database has the last word.
    refused = service.post("/echo", {"text": "hi"}, payer.api_key, Prefer="respond-async")
    assert (refused.status, refused.code) == (403, "account_suspended")
    wait_for_status(service, payer, 403)
    for path in ("/jobs", f"/jobs/{job_id}", "/usage"):
        answer = service.get(path, payer.api_key)
        assert (answer.status, answer.code) == (403, "account_suspended")
    known = service.post("/verify-key", {"api_key": payer.api_key}).json
    assert known["valid"] is False
    assert "suspended" in known["error"]

    suspend(api_database, payer, suspended=False)
    wait_for_status(service, payer, 200)


def test_who_waits_for_a_job_that_a_suspension_ends_is_told(service: Service, api_database: Database) -> None:
    payer = open_account(api_database)
    job_id = service.submit({"text": "hi"}, payer.api_key)
    suspend(api_database, payer)
    while api_database.run(lifecycle.end_suspended()):
        pass
    suspend(api_database, payer, suspended=False)

    job = service.get(f"/jobs/{job_id}", payer.api_key)
    result = service.get(f"/jobs/{job_id}/result", payer.api_key)

    assert (job.json["state"], job.json["error"]["code"]) == ("cancelled", "account_suspended")
    assert (result.status, result.code) == (403, "account_suspended")
