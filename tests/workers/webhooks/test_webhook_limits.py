"""How many events are on their way at once, and that no name leads to an address that is not public."""

import asyncio
import socket
from datetime import timedelta
from typing import Any
from uuid import uuid4

from payers import Payer, open_account
from web_server import Names

from pipeline.database import Database
from pipeline.settings import Settings
from pipeline.webhooks.accounts import ensure_webhook
from pipeline.webhooks.deliveries import AtOnce, DueDelivery, Sent, claim_deliveries, report_delivery
from pipeline.webhooks.log import add_test
from workers.webhooks.sender import WebhookSender

LEASE = timedelta(minutes=1)


def add(database: Database, payer: Payer, *urls: str) -> None:
    database.run_together(list(ensure_webhook(payer.account_id)))
    for url in urls:
        database.run(add_test(payer.account_id, "webhook.test", "{}", url))


def claim(database: Database, *, host: int, account: int, limit: int = 64) -> list[DueDelivery]:
    turn, claiming = claim_deliveries(limit, at_once=AtOnce(host, account), lease_for=LEASE)
    with database.transaction() as transaction:
        transaction.run(turn)
        return transaction.run(claiming)


def urls(claimed: list[DueDelivery]) -> list[str]:
    return sorted(one.url for one in claimed)


def test_only_so_many_are_on_their_way_to_one_host_whosever_they_are(database: Database, payer: Payer) -> None:
    other = open_account(database)
    add(database, payer, *[f"https://A.example/{n}" for n in range(4)], "https://b.example/")
    add(database, other, *[f"https://a.example/other{n}" for n in range(4)])

    first = claim(database, host=2, account=9)
    assert len(first) == 3
    assert "https://b.example/" in urls(first)
    assert claim(database, host=2, account=9) == []

    ended = next(one for one in first if "a.example" in one.url.lower())
    database.run(report_delivery(ended, Sent(status=200), retry_for=LEASE))
    assert len(claim(database, host=2, account=9)) == 1


def test_only_so_many_of_one_account_are_on_their_way_and_others_go_on(database: Database, payer: Payer) -> None:
    other = open_account(database)
    add(database, payer, *[f"https://h{n}.example/" for n in range(6)])
    add(database, other, "https://later.example/")

    first = claim(database, host=9, account=3)

    assert len(first) == 4
    assert "https://later.example/" in urls(first)
    assert claim(database, host=9, account=3) == []
    assert len(claim(database, host=9, account=5, limit=1)) == 1


def test_a_name_that_leads_to_a_private_address_later_is_not_connected_to() -> None:
    opened: list[Any] = []

    def open_socket(found: Any) -> socket.socket:
        opened.append(found[4][0])
        raise OSError("nothing is connected to here")

    names = Names(hooks_example=[["93.184.216.34"], ["10.0.0.1"], ["93.184.216.34", "127.0.0.1"]])
    sender = WebhookSender(Settings(), resolver=names, open_socket=open_socket)
    delivery = DueDelivery(uuid4(), "{}", 1, 0, timedelta(), "https://hooks.example/", ["whsec_AAAA"])

    async def send_thrice() -> list[Sent]:
        async with sender:
            return [await sender.send(delivery) for _ in range(3)]

    first, *later = asyncio.run(send_thrice())

    assert not first.is_final
    assert [(one.is_final, one.status) for one in later] == [(True, None)] * 2
    assert opened == ["93.184.216.34"]
