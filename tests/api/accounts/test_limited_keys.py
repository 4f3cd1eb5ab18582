"""Keys with limits of their own, as who sends them meets them."""

from typing import Any
from uuid import uuid4

import pytest
from http_service import Answer, Service, Start
from manual_worker import ManualWorker
from payers import Payer, open_account

from pipeline.accounts.keys import KeyLimits, add_key, make_key
from pipeline.database import Database
from pipeline.limits.rate_limits import NO_LIMIT


def limited(database: Database, payer: Payer, **limits: Any) -> str:
    """Return another key of the account, with limits."""
    key = make_key()
    database.run(add_key(payer.account_id, key, "limited", KeyLimits(**limits)))
    return key.secret


def limit_and_left(answer: Answer) -> tuple[int, int]:
    return int(answer.headers["x-ratelimit-limit"]), int(answer.headers["x-ratelimit-remaining"])


def ask(service: Service, key: str, path: str = "/echo", **headers: str) -> Answer:
    return service.post(path, {"text": "hi", "items": 2}, key, Prefer="respond-async", **headers)


def test_a_key_has_a_rate_of_its_own(service: Service, client: Payer, api_database: Database) -> None:
    slow = limited(api_database, client, requests_per_minute=3)
    answers = [ask(service, slow) for _ in range(5)]

    assert [answer.status for answer in answers] == [202] * 3 + [429] * 2
    assert [limit_and_left(answer) for answer in answers] == [(3, 2), (3, 1), (3, 0), (3, 0), (3, 0)]
    assert answers[-1].code == "key_rate_limit_exceeded"
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert limit_and_left(service.get("/jobs", slow)) == (3, 0)


def test_what_a_keys_rate_refuses_counts_nowhere(service: Service, client: Payer, api_database: Database) -> None:
    slow = limited(api_database, client, requests_per_minute=2)
    for _ in range(6):
        ask(service, slow)

    limit, left = limit_and_left(ask(service, client.api_key))
    assert limit - left == 3


def test_an_accounts_rate_holds_for_a_key_with_a_higher_one(service: Service, api_database: Database) -> None:
    fast = limited(api_database, open_account(api_database, tier="free"), requests_per_minute=50)
    answers = [ask(service, fast) for _ in range(11)]

    assert [answer.status for answer in answers] == [202] * 10 + [429]
    assert answers[-1].code == "rate_limit_exceeded"


def test_a_batch_may_overdraw_a_keys_rate_and_then_others_wait(
    service: Service, client: Payer, api_database: Database
) -> None:
    slow = limited(api_database, client, requests_per_minute=3)

    assert service.post("/many", {"items": 50}, slow, Prefer="respond-async").status == 202
    assert ask(service, slow).code == "key_rate_limit_exceeded"


def test_without_redis_a_process_counts_a_key_by_itself(
    service_without_redis: Service, client: Payer, api_database: Database
) -> None:
    slow = limited(api_database, client, requests_per_minute=2)
    answers = [ask(service_without_redis, slow) for _ in range(4)]

    assert [answer.status for answer in answers] == [202] * 2 + [429] * 2
    assert limit_and_left(answers[0]) == (2, 1)


def test_a_keys_rate_holds_in_a_tier_without_limits(start: Start, client: Payer, api_database: Database) -> None:
    slow = limited(api_database, client, requests_per_minute=1)
    with start(LIMITS__ENTERPRISE__PER_MINUTE="0") as service:
        assert [ask(service, slow).status for _ in range(2)] == [202, 429]
        assert limit_and_left(ask(service, client.api_key)) == (NO_LIMIT, NO_LIMIT)


def test_a_key_stops_at_its_credits_of_the_month(
    service: Service, client: Payer, api_database: Database, manual_worker: ManualWorker
) -> None:
    cheap = limited(api_database, client, credits_per_month=5)
    sent = {"Idempotency_Key": uuid4().hex}
    done = ask(service, cheap, **sent)
    refused = ask(service, cheap)

    assert (done.status, refused.status, refused.code) == (202, 402, "key_credit_limit")
    assert refused.json["error"] == "Insufficient Credits"
    assert (refused.json["credits_required"], refused.json["key_credits_remaining"]) == (3, 2)
    assert ask(service, cheap, **sent).headers["x-job-id"] == done.headers["x-job-id"]
    assert ask(service, client.api_key).status == 202
    manual_worker.work()
    assert ask(service, cheap).code == "key_credit_limit"


@pytest.fixture
def for_echo(client: Payer, api_database: Database) -> str:
    """A key for /echo alone."""
    return limited(api_database, client, routes=("/echo",))


def test_a_key_is_refused_at_other_routes(service: Service, for_echo: str) -> None:
    assert ask(service, for_echo).status == 202
    for answer in (
        ask(service, for_echo, "/echo/again"),
        ask(service, for_echo, "/many"),
        service.get("/usage", for_echo),
    ):
        assert (answer.status, answer.code) == (403, "route_not_allowed")
        assert "only be used for /echo," in answer.json["message"]
    assert service.post("/verify-key", {"api_key": for_echo}).json["valid"] is True


def test_a_key_of_the_body_is_refused_at_other_routes_too(service: Service, for_echo: str) -> None:
    assert service.post("/many", {"items": 1, "api_key": for_echo}).status == 403


def test_a_key_sees_the_jobs_of_its_routes_alone(
    service: Service, client: Payer, for_echo: str, manual_worker: ManualWorker
) -> None:
    own, other = service.submit({"text": "hi"}, client.api_key), service.submit({"items": 1}, client.api_key, "/many")

    assert [job["id"] for job in service.get("/jobs", for_echo).json] == [own]
    assert service.get("/jobs", for_echo).headers["x-total-count"] == "1"
    for path in ("", "/events", "/result"):
        assert service.get(f"/jobs/{other}{path}", for_echo).code == "job_not_found"
    assert service.post(f"/jobs/{other}/cancel", {}, for_echo).code == "job_not_found"
    assert service.post(f"/jobs/{other}/retry", {}, for_echo).code == "job_not_found"
    assert service.request("DELETE", f"/jobs/{other}", headers={"X-API-Key": for_echo}).code == "job_not_found"
    assert service.get(f"/jobs/{other}", client.api_key).json["state"] == "queued"
    assert service.get(f"/jobs/{own}", for_echo).status == 200
    assert service.post(f"/jobs/{own}/cancel", {}, for_echo).json["state"] == "cancelled"


def test_a_route_allows_what_has_an_id_below_it(service: Service, client: Payer, api_database: Database) -> None:
    index = limited(api_database, client, routes=("/indexing/jobs",))

    assert service.get(f"/indexing/jobs/{uuid4()}/urls", index).status == 404
    assert service.get("/indexing/jobs", index).status == 200
    assert service.get("/indexing/monitors", index).status == 403
