"""Keys verified, and usage as the ledger has it."""

from datetime import UTC, datetime

import pytest
from http_service import Service
from manual_worker import ManualWorker, refuse
from payers import Payer, open_account

from pipeline.accounts.keys import add_key, make_key
from pipeline.database import Database, Statement


def test_a_valid_key_is_told_whose_it_is(service: Service, client: Payer) -> None:
    answer = service.post("/verify-key", {"api_key": client.api_key})
    assert (answer.status, answer.json) == (
        200,
        {"valid": True, "subscription_tier": "enterprise", "user_id": str(client.account_id)},
    )


def test_a_key_of_a_header_is_verified_whatever_the_body_has(service: Service, client: Payer) -> None:
    assert service.post("/verify-key", {}, client.api_key).json["valid"] is True
    assert service.post("/verify-key", {"api_key": "nobody"}, client.api_key).json["valid"] is True
    assert service.post("/verify-key", {"api_key": client.api_key}, "nobody").json["valid"] is False


@pytest.mark.parametrize("key", ["nobody", pytest.param(make_key().secret, id="of nobody"), "é", " "])
def test_an_invalid_key_is_told_so(service: Service, key: str, redis_url: str) -> None:
    answer = service.post("/verify-key", {"api_key": key})
    assert answer.status == 200
    assert answer.json["valid"] is False
    assert set(answer.json) == {"valid", "error"}


@pytest.mark.parametrize("document", [{}, {"api_key": None}, {"api_key": 7}, {"api_key": ""}, {"api_key": []}])
def test_a_verification_of_nothing_is_refused(service: Service, document: object) -> None:
    answer = service.post("/verify-key", document)
    assert (answer.status, answer.json["details"][0]["field"]) == (400, "api_key")


def test_verifications_of_invalid_keys_are_limited_by_address(service: Service, client: Payer, redis_url: str) -> None:
    statuses = [service.post("/verify-key", {"api_key": "nobody"}).status for _ in range(21)]
    assert statuses == [200] * 20 + [429]
    assert service.post("/verify-key", {"api_key": client.api_key}).status == 200


def test_usage_of_a_new_account_is_nothing(service: Service, client: Payer) -> None:
    before = datetime.now(UTC).date()
    answer = service.get("/usage", client.api_key)
    after = datetime.now(UTC).date()
    assert answer.status == 200
    assert len(answer.json["by_day"]) == 30
    assert answer.json["by_day"][-1] | {"date": ""} == {"date": "", "requests": 0, "credits": 0}
    assert answer.json["by_day"][-1]["date"] in {before.isoformat(), after.isoformat()}
    assert answer.json | {"by_day": []} == {
        "total_requests": 0,
        "total_credits_used": 0,
        "requests_this_month": 0,
        "credits_used_this_month": 0,
        "subscription_tier": "enterprise",
        "credits_remaining": 1_000,
        "credits_held": 0,
        "usage_by_endpoint": {},
        "credits_by_endpoint": {},
        "by_key": [],
        "by_day": [],
    }


def test_usage_counts_requests_when_made_and_credits_when_earned(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    second = make_key()
    api_database.run(add_key(client.account_id, second, "second"))
    service.submit({"text": "hi"}, client.api_key)
    manual_worker.work()
    service.submit({"text": "fails"}, client.api_key, "/echo/again")
    manual_worker.work(refuse)
    service.submit({"items": 4}, second.secret, "/many")
    used = service.get("/usage", client.api_key).json
    assert (used["total_requests"], used["total_credits_used"]) == (3, 3)
    assert (used["requests_this_month"], used["credits_used_this_month"]) == (3, 3)
    assert (used["credits_remaining"], used["credits_held"]) == (993, 4)
    assert used["usage_by_endpoint"] == {"/echo": 1, "/echo/again": 1, "/many": 1}
    assert used["credits_by_endpoint"] == {"/echo": 3, "/echo/again": 0, "/many": 0}
    assert used["by_key"] == [
        {"key_id": str(second.id), "name": "second", "requests": 1, "credits": 0},
        {"key_id": str(client.api_key_id), "name": "test", "requests": 2, "credits": 3},
    ]
    assert used["by_day"][-1] | {"date": ""} == {"date": "", "requests": 3, "credits": 3}


def test_usage_outlives_its_jobs_and_forgets_no_month(
    service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work()
    for statement in (
        "DELETE FROM item WHERE job_id = %(id)s RETURNING 1",
        "DELETE FROM job WHERE id = %(id)s RETURNING 1",
        "UPDATE credit_entry SET created_at = created_at - interval '70 days' WHERE job_id = %(id)s RETURNING 1",
    ):
        api_database.run(Statement(statement, {"id": job_id}))
    used = service.get("/usage", client.api_key).json
    assert (used["total_requests"], used["total_credits_used"]) == (1, 3)
    assert (used["requests_this_month"], used["credits_used_this_month"]) == (0, 0)


def test_usage_is_an_accounts_own(service: Service, client: Payer, api_database: Database) -> None:
    service.submit({"text": "hi"}, open_account(api_database).api_key)
    assert service.get("/usage", client.api_key).json["total_requests"] == 0
    assert service.get("/usage").status == 401
