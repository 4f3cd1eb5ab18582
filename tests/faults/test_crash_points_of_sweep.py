"""Whatever call a sweep dies at, the next one tells each webhook of its event, under the same id.

`CRASH_POINTS=all` tries each call, those around the sending otherwise.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from crash_points import AFTER, BEFORE, Plan, Told, is_long, sides_of
from crash_runs import MOST_POINTS, run_once
from crash_site import Copy, copy_of_database
from crash_worker import sweep_process
from payers import open_account
from webhook_receiver import Receiver, webhook_receiver

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Statement
from pipeline.webhooks.accounts import NewWebhook, add_webhook
from pipeline.webhooks.deliveries import add_delivery

pytestmark = [pytest.mark.system, pytest.mark.timeout(3_600)]
TABLE = Path("out", "faults-sweep-crash-points").with_suffix(".md")
BODY = '{"type": "test.happened", "timestamp": "2026-11-23T00:00:00.000Z", "data": {}}'


def sweep(own: Copy, plan: Plan) -> Told:
    """Run a sweep that may die."""
    return run_once(sweep_process, own, plan)


def die(own: Copy, database: Database, receiver: Receiver, plan: Plan) -> Told:
    """Let a sweep die that has an event to send, and another one go on once the dead one's time is over."""
    receiver.events.clear()
    webhook = NewWebhook(open_account(database).account_id, receiver.url)
    database.run(add_webhook(webhook))
    database.run(add_delivery(webhook.id, BODY))
    told = sweep(own, plan)
    over = "UPDATE webhook_delivery SET next_at = now(), busy_until = NULL WHERE state = 'pending' RETURNING id"
    database.run(Statement(over))
    sweep(own, Plan())
    (row,) = database.run(Statement("SELECT * FROM webhook_delivery WHERE webhook_id = %(id)s", {"id": webhook.id}))
    assert row["state"] == "delivered", told
    assert {event.headers["webhook-id"] for event in receiver.events} == {f"msg_{row['id'].hex}"}
    assert {event.body.decode() for event in receiver.events} == {BODY}
    assert len(receiver.events) <= (2 if told.died_at else 1)
    assert database.run(discrepancies()) == []
    return told


def test_an_event_whose_sweep_dies_is_told_at_least_once_and_always_under_its_id(
    make_database: Callable[[], str], redis_server: str, tmp_path: Path
) -> None:
    settings = {"PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8"}
    own = copy_of_database(make_database(), redis_server, tmp_path, settings)
    deaths = 0
    with webhook_receiver() as receiver, Database(own.database_url) as database:
        if not is_long():
            for side in (BEFORE, AFTER):
                assert die(own, database, receiver, Plan(call="socket: send POST", side=side)).died_at
            return
        for number in range(1, MOST_POINTS):
            told = die(own, database, receiver, Plan(number))
            if told.died_at is None:
                break
            deaths += 1
            for side in sides_of(told.calls[number - 1])[1:]:
                deaths += die(own, database, receiver, Plan(number, side)).died_at is not None
        print(f"\nsweep: {number - 1} calls, {deaths} deaths")
        TABLE.parent.mkdir(exist_ok=True)
        where = "before each of them, and after those of the database"
        TABLE.write_text(f"{number - 1} calls, {deaths} deaths: {where}.\n")
        assert deaths
