"""The end of a job is told to a webhook: which end, to whom, with what, and never to an address that is not public."""

import json
from typing import Any

import pytest
from http_service import Service, form
from manual_worker import ManualWorker, refuse
from payers import Payer, discrepancies_of
from standardwebhooks.webhooks import Webhook
from webhook_receiver import Event, Receiver

from pipeline.database import Database, Statement
from pipeline.jobs.job_ends import tell_ends
from pipeline.lifecycle import expire
from workers.webhooks.sending import WebhookSending


def told(event: Event) -> Any:
    return json.loads(event.body)


def rotate(service: Service, client: Payer) -> str:
    """Return the account's secret: a new one, as it is shown once."""
    answer = service.post("/webhooks/secret", {}, client.api_key)
    assert answer.status == 200, answer.body
    return str(answer.json["webhook_secret"])


def deliveries(database: Database, client: Payer) -> list[dict[str, Any]]:
    tell_ends(database)
    query = "SELECT event, url, body FROM webhook_delivery WHERE account_id = %(account)s ORDER BY created_at"
    return database.run(Statement(query, {"account": client.account_id}))


def test_a_completed_job_is_told_as_the_job_says_and_a_library_of_others_verifies_it(
    open_service: Service,
    client: Payer,
    manual_worker: ManualWorker,
    webhooks: WebhookSending,
    receiver: Receiver,
    api_database: Database,
) -> None:
    secret = rotate(open_service, client)
    sent = {"text": "hi", "webhook_url": receiver.url}
    job_id = open_service.submit(sent, client.api_key)
    assert deliveries(api_database, client) == []

    manual_worker.work()
    webhooks.send_due(api_database)

    (event,) = receiver.events
    document = Webhook(secret).verify(event.body, dict(event.headers))
    job = open_service.get(f"/jobs/{job_id}", client.api_key).json
    assert document["type"] == "job.completed"
    assert document["timestamp"] == job["finished_at"]
    del job["progress"]
    assert document["data"] == job | {"items": {"total": 1, "ok": 1, "failed": 0}}
    assert discrepancies_of(api_database, client) == []


def test_a_failed_a_cancelled_and_an_expired_job_are_told_with_the_reason(
    open_service: Service,
    client: Payer,
    manual_worker: ManualWorker,
    webhooks: WebhookSending,
    receiver: Receiver,
    api_database: Database,
) -> None:
    sent = {"text": "hi", "webhook_url": receiver.url}
    open_service.submit(sent, client.api_key)
    manual_worker.work(refuse)
    cancelled = open_service.submit(sent, client.api_key)
    open_service.post(f"/jobs/{cancelled}/cancel", {}, client.api_key)
    late = open_service.submit(sent, client.api_key)
    api_database.run(
        Statement("UPDATE job SET deadline = now() - interval '1 s' WHERE id = %(id)s RETURNING id", {"id": late})
    )
    assert str(api_database.run(expire())) == late

    webhooks.send_due(api_database)

    found = {(told(event)["type"], told(event)["data"]["error"]["code"]) for event in receiver.events}
    assert found == {
        ("job.failed", "cannot_be_done"),
        ("job.cancelled", "job_cancelled"),
        ("job.failed", "job_expired"),
    }
    assert all("status" not in told(event)["data"]["error"] for event in receiver.events)


def test_forms_headers_and_queries_name_a_webhook_as_well(
    open_service: Service, client: Payer, manual_worker: ManualWorker, api_database: Database
) -> None:
    url = "https://hooks.example.org/x"
    body, content_type = form(
        ("text", b"hi", None),
        ("webhook_url", f"{url}?form".encode(), None),
        ("webhook_events", b"job.failed, job.completed", None),
        ("audio", b"a", "a.wav"),
        ("music", b"m", "m.wav"),
    )
    headers = {"Content-Type": content_type, "Prefer": "respond-async"}
    answer = open_service.post_bytes("/files-in", body, client.api_key, **headers)
    assert answer.status == 202, answer.body
    open_service.submit({"text": "hi"}, client.api_key, X_Webhook_Url=f"{url}?header", X_Webhook_Events="job.completed")
    open_service.submit({"text": "hi"}, client.api_key, path=f"/echo?webhook_url={url}%3Fquery")
    while manual_worker.work():
        pass

    assert {row["url"] for row in deliveries(api_database, client)} == {
        f"{url}?{by}" for by in ("form", "header", "query")
    }


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"webhook_url": "http://127.0.0.1/hook"}, "webhook_url_invalid"),
        ({"webhook_url": "https://example.org:22/"}, "webhook_url_invalid"),
        ({"webhook_url": f"https://example.org/{'a' * 2_000}"}, "invalid_request"),
        ({"webhook_url": 7}, "invalid_request"),
        ({"webhook_url": "https://example.org/", "webhook_events": ["job.started"]}, "invalid_request"),
        ({"webhook_url": "https://example.org/", "webhook_events": {"a": 1}}, "invalid_request"),
        ({"webhook_events": ["job.failed"]}, "webhook_missing"),
    ],
)
def test_what_is_no_public_address_or_no_event_is_refused_and_costs_nothing(
    service: Service, client: Payer, fields: dict[str, Any], code: str
) -> None:
    answer = service.post("/echo", {"text": "hi", **fields}, client.api_key)

    assert (answer.status, answer.code) == (400, code), answer.body
    assert "webhook_" in answer.json["message"]
    assert service.get("/usage", client.api_key).json["credits_remaining"] == 1_000


def test_a_request_sent_again_with_another_webhook_is_the_same_job(open_service: Service, client: Payer) -> None:
    first, again = (
        open_service.submit(
            {"text": "hi", "webhook_url": f"https://hooks.example.org/{n}"}, client.api_key, Idempotency_Key="same"
        )
        for n in range(2)
    )

    assert first == again
