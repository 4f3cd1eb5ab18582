"""Events are sent until they are taken, for a day, and only to addresses that anybody may ask."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from payers import Payer
from webhook_receiver import Receiver, webhook_receiver

from pipeline.database import Database, Statement
from pipeline.settings import Settings
from pipeline.webhooks.accounts import NewWebhook, add_webhook, delete_webhook, move_webhook
from pipeline.webhooks.deliveries import PAUSES, Sent, add_delivery, forget_deliveries
from pipeline.webhooks.events import event_body, sign
from workers.webhooks.sending import WebhookSending

BODY = event_body("test.happened", {"n": 1, "url": "https://e.example/café"}, datetime(2026, 11, 23, tzinfo=UTC))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with webhook_receiver() as running:
        yield running


@pytest.fixture
def webhooks() -> WebhookSending:
    """A sender that may reach this machine."""
    return WebhookSending(Settings(fetch={"allow_networks": "127.0.0.0/8"}, webhooks={"timeout_seconds": 20}))


def hook(database: Database, payer: Payer, url: str) -> NewWebhook:
    """Make a webhook with an event that is due."""
    webhook = NewWebhook(payer.account_id, url)
    database.run(add_webhook(webhook))
    database.run(add_delivery(webhook.id, BODY))
    return webhook


def delivery(database: Database) -> dict[str, Any]:
    (row,) = database.run(Statement("SELECT *, next_at - now() AS pause FROM webhook_delivery"))
    return row


def make_due(database: Database, *, happened: timedelta = timedelta()) -> None:
    """Make the next try due, of an event that happened so long ago."""
    query = "UPDATE webhook_delivery SET next_at = now(), created_at = now() - %(ago)s RETURNING 1"
    database.run(Statement(query, {"ago": happened}))


def test_an_event_is_posted_as_it_is_signed(
    webhooks: WebhookSending, database: Database, payer: Payer, receiver: Receiver
) -> None:
    webhook = hook(database, payer, receiver.url)

    assert [webhooks.send_due(database), webhooks.send_due(database)] == [1, 0]

    (event,) = receiver.events
    headers, body = event.headers, event.body.decode()
    assert (event.path, body, headers["content-type"]) == ("/hook", BODY, "application/json")
    assert json.loads(body) == {
        "type": "test.happened",
        "timestamp": "2026-11-23T00:00:00.000Z",
        "data": {"n": 1, "url": "https://e.example/café"},
    }
    seconds = int(headers["webhook-timestamp"])
    assert headers["webhook-signature"] == sign(webhook.secret, headers["webhook-id"], seconds, body)
    assert abs(datetime.now(UTC).timestamp() - seconds) < 3_600
    row = delivery(database)
    assert (row["state"], row["attempts"], row["status"], row["error"]) == ("delivered", 1, 204, None)
    assert row["ended_at"]


def test_what_is_not_taken_is_sent_again_later_and_later_under_the_same_id(
    webhooks: WebhookSending, database: Database, payer: Payer, receiver: Receiver
) -> None:
    hook(database, payer, receiver.url)
    receiver.answers += [(500, {}), (302, {"Location": "/elsewhere"}), (429, {"Retry-After": "7200"})]
    pauses = []
    for _ in range(3):
        assert webhooks.send_due(database) == 1
        pauses.append(delivery(database)["pause"])
        assert webhooks.send_due(database) == 0  # not before the pause is over
        make_due(database)

    assert webhooks.send_due(database) == 1

    assert 0.8 * PAUSES[0] < pauses[0] < 1.2 * PAUSES[0]
    assert 0.8 * PAUSES[1] < pauses[1] < 1.2 * PAUSES[1]
    assert pauses[2] > timedelta(minutes=110)
    assert [event.path for event in receiver.events] == ["/hook"] * 4
    assert len({event.headers["webhook-id"] for event in receiver.events}) == 1
    assert (delivery(database)["state"], delivery(database)["attempts"]) == ("delivered", 4)


def test_an_event_is_given_up_after_a_day_and_tried_once_more_at_its_end(
    webhooks: WebhookSending, database: Database, payer: Payer, receiver: Receiver
) -> None:
    hook(database, payer, receiver.url)
    receiver.answers += [(500, {})] * 9
    for _ in range(7):
        make_due(database, happened=timedelta(hours=23))
        webhooks.send_due(database)
    row = delivery(database)
    assert row["state"] == "pending"
    assert timedelta(minutes=55) < row["pause"] <= timedelta(hours=1)

    make_due(database, happened=timedelta(hours=24))
    webhooks.send_due(database)

    row = delivery(database)
    assert (row["state"], row["attempts"], row["status"]) == ("failed", 8, 500)
    assert "HTTP 500" in row["error"]
    make_due(database)
    assert webhooks.send_due(database) == 0


def test_an_address_that_wants_no_more_gets_no_more(
    webhooks: WebhookSending, database: Database, payer: Payer, receiver: Receiver
) -> None:
    hook(database, payer, receiver.url)
    receiver.answers.append((410, {}))

    webhooks.send_due(database)

    assert (delivery(database)["state"], delivery(database)["attempts"]) == ("failed", 1)


def test_who_does_not_answer_is_left_after_a_while_and_holds_up_no_other(
    database: Database, payer: Payer, receiver: Receiver
) -> None:
    impatient = WebhookSending(Settings(fetch={"allow_networks": "127.0.0.0/8"}, webhooks={"timeout_seconds": 0.5}))
    receiver.may_answer.clear()
    hook(database, payer, receiver.url)
    with webhook_receiver() as other:
        hook(database, payer, other.url)

        assert impatient.send_due(database) == 2

        assert len(other.events) == 1
    rows = database.run(Statement("SELECT state, error FROM webhook_delivery ORDER BY created_at"))
    assert [row["state"] for row in rows] == ["pending", "delivered"]
    assert rows[0]["error"] == "no answer within 0.5 s"


def test_a_try_that_was_lost_is_made_again_and_its_late_report_counts_for_nothing(
    webhooks: WebhookSending, database: Database, payer: Payer, receiver: Receiver
) -> None:
    class Lost:
        """A sender whose process falls asleep, until another one has sent the event."""

        async def send(self, delivery: Any) -> Sent:
            make_due(database)
            assert await asyncio.to_thread(webhooks.send_due, database) == 1
            return Sent(error="late")

    hook(database, payer, receiver.url)

    WebhookSending(Settings(), lambda _: nullcontext(Lost())).send_due(database)

    row = delivery(database)
    assert (row["state"], row["attempts"], row["error"]) == ("delivered", 2, None)


def test_a_webhook_that_moves_keeps_its_secret_and_one_that_is_deleted_is_sent_nothing(
    webhooks: WebhookSending, database: Database, payer: Payer, receiver: Receiver
) -> None:
    webhook = hook(database, payer, "http://127.0.0.1:9/")
    database.run(move_webhook(webhook.id, f"{receiver.url}/moved"))
    webhooks.send_due(database)
    (event,) = receiver.events
    seconds, message_id = int(event.headers["webhook-timestamp"]), event.headers["webhook-id"]
    assert event.path == "/hook/moved"
    assert event.headers["webhook-signature"] == sign(webhook.secret, message_id, seconds, event.body.decode())

    database.run(add_delivery(webhook.id, BODY))
    database.run(delete_webhook(webhook.id))

    assert webhooks.send_due(database) == 0
    assert database.run(Statement("SELECT 1 FROM webhook_delivery")) == []


def test_old_events_are_deleted_and_those_on_their_way_are_not(database: Database, payer: Payer) -> None:
    hook(database, payer, "http://127.0.0.1:9/")
    make_due(database, happened=timedelta(days=31))
    assert database.run(forget_deliveries(older_than=timedelta(days=30), limit=10)) == 0

    database.run(Statement("UPDATE webhook_delivery SET state = 'failed' RETURNING 1"))

    assert database.run(forget_deliveries(older_than=timedelta(days=30), limit=10)) == 1


def test_an_event_that_can_not_be_signed_keeps_no_other_back(
    webhooks: WebhookSending, database: Database, payer: Payer, receiver: Receiver
) -> None:
    broken = hook(database, payer, receiver.url)
    query = "UPDATE webhook SET secret = 'whsec_x' WHERE id = %(id)s RETURNING id"
    database.run(Statement(query, {"id": broken.id}))
    hook(database, payer, receiver.url)

    assert webhooks.send_due(database) == 2

    rows = database.run(Statement("SELECT state FROM webhook_delivery ORDER BY created_at"))
    assert [row["state"] for row in rows] == ["pending", "delivered"]
