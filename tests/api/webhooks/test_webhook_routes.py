"""An account's webhook: its default address, its secret that changes, and the log of what was sent."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from http_service import Answer, Service
from manual_worker import ManualWorker, refuse
from payers import Payer, open_account
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from webhook_receiver import Receiver

from api.webhooks.actions import MAX_WEBHOOKS
from pipeline.database import Database, Statement
from pipeline.jobs.job_ends import tell_ends
from pipeline.webhooks.deliveries import add_to_account
from pipeline.webhooks.events import EVENTS, MONITOR_CHANGED, event_body
from workers.webhooks.sending import WebhookSending

URL = "https://hooks.example.org/pressroom"
UNKNOWN = UUID(int=1)


def send(service: Service, method: str, path: str, client: Payer, document: object = None) -> Answer:
    body = b"" if document is None else json.dumps(document).encode()
    return service.request(
        method, f"/webhooks{path}", body, {"Content-Type": "application/json", "X-API-Key": client.api_key}
    )


def log(service: Service, client: Payer, query: str = "") -> Any:
    answer = send(service, "GET", f"/deliveries{query}", client)
    assert answer.status == 200, answer.body
    return answer.json


def test_a_default_is_told_of_each_job_unless_the_request_says_otherwise(
    open_service: Service,
    client: Payer,
    manual_worker: ManualWorker,
    receiver: Receiver,
    api_database: Database,
) -> None:
    nothing = send(open_service, "GET", "", client).json
    assert nothing == {
        "webhook_url": None, "webhook_events": [*EVENTS], "secret_set_at": None, "previous_secret_until": None,
        "webhooks": [],
    }  # fmt: skip

    made = send(open_service, "PUT", "", client, {"webhook_url": URL, "webhook_events": ["job.completed"]})
    again = send(open_service, "PUT", "", client, {"webhook_url": URL, "webhook_events": ["job.completed"]})

    assert (made.status, made.json["webhook_url"], made.json["webhook_events"]) == (200, URL, ["job.completed"])
    assert made.json["webhook_secret"].startswith("whsec_")
    assert "webhook_secret" not in again.json
    assert again.json["secret_set_at"]
    for sent in ({}, {"webhook_events": ["job.failed"]}, {"webhook_events": []}, {"webhook_url": f"{URL}/own"}):
        open_service.submit({"text": "hi", **sent}, client.api_key)
        manual_worker.work()
    tell_ends(api_database)
    assert [one["url"] for one in log(open_service, client)] == [f"{URL}/own", URL]

    assert send(open_service, "DELETE", "", client).status == 204
    open_service.submit({"text": "hi"}, client.api_key)
    manual_worker.work()
    tell_ends(api_database)
    assert len(log(open_service, client)) == 2
    assert send(open_service, "GET", "", client).json["webhook_url"] is None


def test_each_of_several_webhooks_has_its_own_events_secret_and_deliveries(
    open_service: Service,
    client: Payer,
    manual_worker: ManualWorker,
    webhooks: WebhookSending,
    receiver: Receiver,
    api_database: Database,
) -> None:
    done, failed = (
        send(
            open_service, "POST", "", client, {"webhook_url": f"{receiver.url}/{name}", "webhook_events": [event]}
        ).json
        for name, event in (("done", "job.completed"), ("failed", "job.failed"))
    )
    send(open_service, "PUT", "", client, {"webhook_url": f"{receiver.url}/all"})
    for sent in (
        {},
        {"webhook_events": ["job.failed"]},
        {"webhook_events": []},
        {"webhook_url": f"{receiver.url}/own"},
    ):
        open_service.submit({"text": "hi", **sent}, client.api_key)
        manual_worker.work()
    open_service.submit({"text": "hi"}, client.api_key)
    manual_worker.work(refuse)
    webhooks.send_due(api_database)

    paths = sorted(event.path.removeprefix("/hook/") for event in receiver.events)
    assert paths == ["all", "all", "done", "failed", "own"]
    for webhook, path in ((done, "/hook/done"), (failed, "/hook/failed")):
        (event,) = (event for event in receiver.events if event.path == path)
        Webhook(webhook["webhook_secret"]).verify(event.body, dict(event.headers))
        (delivery,) = log(open_service, client, f"?webhook_id={webhook['id']}")
        assert (delivery["state"], delivery["webhook_id"]) == ("delivered", webhook["id"])
    listed = send(open_service, "GET", "", client).json
    assert {one["webhook_url"] for one in listed["webhooks"]} == {
        f"{receiver.url}/{n}" for n in ("done", "failed", "all")
    }
    assert "whsec_" not in json.dumps(listed)


def test_one_of_several_webhooks_is_changed_signed_tested_and_deleted(
    open_service: Service, client: Payer, webhooks: WebhookSending, receiver: Receiver, api_database: Database
) -> None:
    made = send(open_service, "POST", "", client, {"webhook_url": URL}).json
    here = f"/{made['id']}"

    changed = send(open_service, "PUT", here, client, {"webhook_url": receiver.url, "webhook_events": ["job.failed"]})
    assert changed.json == send(open_service, "GET", here, client).json
    assert (changed.json["webhook_url"], changed.json["webhook_events"]) == (receiver.url, ["job.failed"])
    newer = send(open_service, "POST", f"{here}/secret", client).json["webhook_secret"]
    assert send(open_service, "POST", f"{here}/test", client).status == 202
    webhooks.send_due(api_database)

    for secret in (made["webhook_secret"], newer):
        assert Webhook(secret).verify(receiver.events[0].body, dict(receiver.events[0].headers))
    other = open_account(api_database)
    for method, path in (("GET", here), ("DELETE", here), ("POST", f"{here}/test")):
        assert send(open_service, method, path, other).code == "webhook_not_found"
    assert send(open_service, "DELETE", here, client).status == 204
    assert send(open_service, "GET", "", client).json["webhooks"] == []


def test_an_account_has_so_many_webhooks_at_most(service: Service, client: Payer) -> None:
    answers = [send(service, "POST", "", client, {"webhook_url": URL}) for _ in range(MAX_WEBHOOKS + 1)]

    assert [answer.status for answer in answers] == [201] * MAX_WEBHOOKS + [409]
    assert answers[-1].code == "too_many_webhooks"
    assert send(service, "PUT", "", client, {"webhook_url": URL}).status == 200  # the default is beside them


def test_a_new_secret_and_the_one_before_both_sign_for_a_while(
    open_service: Service,
    client: Payer,
    manual_worker: ManualWorker,
    webhooks: WebhookSending,
    receiver: Receiver,
    api_database: Database,
) -> None:
    def rotate() -> Any:
        answer = send(open_service, "POST", "/secret", client)
        assert answer.status == 200, answer.body
        return answer.json

    oldest = rotate()
    assert oldest["previous_secret_until"] is None
    older, newest = rotate(), rotate()
    assert newest["previous_secret_until"]
    open_service.submit({"text": "hi", "webhook_url": receiver.url}, client.api_key)
    manual_worker.work()
    webhooks.send_due(api_database)

    (event,) = receiver.events
    for shown in (older, newest):
        assert Webhook(shown["webhook_secret"]).verify(event.body, dict(event.headers))
    with pytest.raises(WebhookVerificationError):
        Webhook(oldest["webhook_secret"]).verify(event.body, dict(event.headers))

    query = "UPDATE webhook SET previous_until = now() WHERE account_id = %(account)s RETURNING id"
    api_database.run(Statement(query, {"account": client.account_id}))
    open_service.submit({"text": "hi", "webhook_url": receiver.url}, client.api_key)
    manual_worker.work()
    webhooks.send_due(api_database)
    with pytest.raises(WebhookVerificationError):
        Webhook(older["webhook_secret"]).verify(receiver.events[1].body, dict(receiver.events[1].headers))
    assert Webhook(newest["webhook_secret"]).verify(receiver.events[1].body, dict(receiver.events[1].headers))


def test_the_log_shows_each_try_and_an_event_is_sent_again(
    open_service: Service,
    client: Payer,
    manual_worker: ManualWorker,
    webhooks: WebhookSending,
    receiver: Receiver,
    api_database: Database,
) -> None:
    job_id = open_service.submit({"text": "hi", "webhook_url": receiver.url}, client.api_key)
    manual_worker.work()
    receiver.answers.append((410, {}))
    webhooks.send_due(api_database)

    (listed,) = log(open_service, client, f"?state=failed&event=job.completed&job_id={job_id}")
    shown = send(open_service, "GET", f"/deliveries/{listed['id']}", client).json
    assert shown.items() >= listed.items()
    assert (shown["state"], shown["status"], shown["attempts"], shown["job_id"]) == ("failed", 410, 1, job_id)
    assert shown["body"] == json.loads(receiver.events[0].body)
    (one,) = shown["tries"]
    assert (one["status"], one["error"]) == (410, shown["error"])
    assert one["seconds"] >= 0

    again = send(open_service, "POST", f"/deliveries/{listed['id']}/send", client)
    assert (again.status, again.json["state"]) == (202, "pending")
    assert again.json["sent_again_at"]
    webhooks.send_due(api_database)

    assert [event.headers["webhook-id"] for event in receiver.events] == [shown["message_id"]] * 2
    shown = send(open_service, "GET", f"/deliveries/{listed['id']}", client).json
    assert (shown["state"], shown["status"], [one["status"] for one in shown["tries"]]) == (
        "delivered",
        204,
        [410, 204],
    )
    assert log(open_service, client, "?state=failed") == []


def test_an_event_that_is_sent_again_long_after_is_tried_as_long_as_a_new_one(
    open_service: Service, client: Payer, webhooks: WebhookSending, receiver: Receiver, api_database: Database
) -> None:
    delivery = send(open_service, "POST", "/test", client, {"webhook_url": receiver.url}).json
    query = (
        "UPDATE webhook_delivery SET created_at = now() - interval '9 days', attempts = 9, state = 'failed'"
        " WHERE id = %(id)s RETURNING id"
    )
    api_database.run(Statement(query, {"id": delivery["id"]}))
    send(open_service, "POST", f"/deliveries/{delivery['id']}/send", client)
    receiver.answers.append((500, {}))

    webhooks.send_due(api_database)

    query = "SELECT state, next_at - now() < interval '10 s' AS is_soon FROM webhook_delivery WHERE id = %(id)s"
    assert api_database.run(Statement(query, {"id": delivery["id"]})) == [{"state": "pending", "is_soon": True}]


def test_a_test_is_sent_to_the_default_or_to_an_address_of_its_own(
    open_service: Service, client: Payer, webhooks: WebhookSending, receiver: Receiver, api_database: Database
) -> None:
    nowhere = send(open_service, "POST", "/test", client)
    assert (nowhere.status, nowhere.code) == (400, "webhook_missing")
    send(open_service, "PUT", "", client, {"webhook_url": receiver.url, "webhook_events": ["job.failed"]})

    for document in (None, {"webhook_url": f"{receiver.url}/other"}):
        assert send(open_service, "POST", "/test", client, document).status == 202
    webhooks.send_due(api_database)

    assert sorted(event.path for event in receiver.events) == ["/hook", "/hook/other"]
    assert {json.loads(event.body)["type"] for event in receiver.events} == {"webhook.test"}


def test_tests_and_events_that_are_sent_again_count_as_requests(service: Service, api_database: Database) -> None:
    free = open_account(api_database, tier="free")
    tests = [send(service, "POST", "/test", free, {"webhook_url": URL}) for _ in range(9)]
    assert {answer.status for answer in tests} == {202}
    again = f"/deliveries/{tests[0].json['id']}/send"
    assert [send(service, "POST", again, free).status for _ in range(2)] == [202, 429]
    refused = send(service, "POST", "/test", free, {"webhook_url": URL})
    assert (refused.status, refused.code) == (429, "rate_limit_exceeded")
    assert len(log(service, free)) == 9


def test_another_accounts_deliveries_are_not_there(
    open_service: Service, client: Payer, receiver: Receiver, api_database: Database
) -> None:
    other = open_account(api_database)
    delivery = send(open_service, "POST", "/test", other, {"webhook_url": receiver.url}).json

    for method, path in (("GET", ""), ("POST", "/send")):
        answer = send(open_service, method, f"/deliveries/{delivery['id']}{path}", client)
        assert (answer.status, answer.code) == (404, "delivery_not_found")
    assert log(open_service, client) == []
    assert len(log(open_service, other)) == 1


@pytest.mark.parametrize(
    ("method", "path", "document", "status", "code"),
    [
        ("PUT", "", {"webhook_url": "http://10.0.0.1/"}, 400, "webhook_url_invalid"),
        ("PUT", "", {"webhook_url": URL, "webhook_events": ["job.done"]}, 400, "invalid_request"),
        ("PUT", "", {}, 400, "invalid_request"),
        ("POST", "", {"webhook_url": None}, 400, "invalid_request"),
        ("POST", "", {"webhook_url": "http://10.0.0.1/"}, 400, "webhook_url_invalid"),
        ("GET", f"/{UNKNOWN}", None, 404, "webhook_not_found"),
        ("PUT", f"/{UNKNOWN}", {"webhook_url": URL}, 404, "webhook_not_found"),
        ("DELETE", "/nothing", None, 404, "webhook_not_found"),
        ("POST", f"/{UNKNOWN}/secret", None, 404, "webhook_not_found"),
        ("POST", f"/{UNKNOWN}/test", None, 404, "webhook_not_found"),
        ("POST", "/test", {"webhook_url": "http://[::1]/"}, 400, "webhook_url_invalid"),
        ("GET", "/deliveries?state=lost", None, 400, "parameter_invalid"),
        ("GET", "/deliveries/nothing", None, 404, "delivery_not_found"),
        ("GET", "/deliveries?job_id=x", None, 400, "parameter_invalid"),
    ],
)
def test_what_is_wrong_is_refused(
    service: Service, client: Payer, method: str, path: str, document: object, status: int, code: str
) -> None:
    answer = send(service, method, path, client, document)

    assert (answer.status, answer.code) == (status, code), answer.body


def test_nobody_without_a_key_sees_or_changes_anything(service: Service) -> None:
    for method, path in (("GET", ""), ("PUT", ""), ("DELETE", ""), ("POST", "/secret"), ("GET", "/deliveries")):
        assert service.request(method, f"/webhooks{path}", b"", {}).status == 401


def test_changes_of_a_monitor_without_a_webhook_are_told_to_the_account_that_wants_them(
    open_service: Service, client: Payer, api_database: Database, receiver: Receiver
) -> None:
    event = event_body(MONITOR_CHANGED, {}, datetime.now(UTC))
    for events, count in ((["job.failed"], 0), ([MONITOR_CHANGED], 1), (None, 2)):
        send(open_service, "PUT", "", client, {"webhook_url": URL, "webhook_events": events})
        api_database.run(add_to_account(client.account_id, MONITOR_CHANGED, event))
        assert len(log(open_service, client)) == count
