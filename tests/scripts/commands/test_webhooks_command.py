"""`pressroom webhooks`, on an account of its own."""

import json
from collections.abc import Callable
from uuid import uuid4

from payers import Payer
from ran import Ran

from pipeline.database import Database, Statement
from pipeline.webhooks.deliveries import add_to_account


def test_an_accounts_webhook_is_set_shown_signed_and_taken_away(
    pressroom: Callable[..., Ran], database: Database, payer: Payer
) -> None:
    account, url = str(payer.account_id), "https://hooks.example.org/pressroom"
    made = pressroom("webhooks", "set", account, url, "--event", "job.failed")
    assert "whsec_" in made.out
    assert "whsec_" not in pressroom("webhooks", "set", account, url, "--event", "job.failed").out
    (shown,) = json.loads(pressroom("webhooks", "show", account).out)
    assert (shown["webhook_url"], shown["webhook_events"]) == (url, ["job.failed"])
    # The last line: a thread that another test has left may have said something before it.
    rotated = pressroom("webhooks", "rotate-secret", account).out.splitlines()[-1]
    assert rotated.startswith("secret whsec_")
    assert rotated.split()[1] not in made.out

    pressroom("webhooks", "unset", account)
    assert json.loads(pressroom("webhooks", "show", account).out) == []


def test_deliveries_are_listed_and_sent_again(pressroom: Callable[..., Ran], database: Database, payer: Payer) -> None:
    account = str(payer.account_id)
    pressroom("webhooks", "set", account, "https://hooks.example.org/pressroom")
    database.run(add_to_account(payer.account_id, "job.failed", "{}"))
    database.run(Statement("UPDATE webhook_delivery SET state = 'failed', error = 'HTTP 500' RETURNING id"))

    listed = pressroom("webhooks", "deliveries", account, "--state", "failed").out
    assert "HTTP 500" in listed
    (row,) = database.run(Statement("SELECT id FROM webhook_delivery"))
    assert pressroom("webhooks", "send-again", str(row["id"])).code == 0
    assert database.run(Statement("SELECT state FROM webhook_delivery")) == [{"state": "pending"}]


def test_what_is_not_there_or_is_private_is_refused(pressroom: Callable[..., Ran], payer: Payer) -> None:
    account = str(payer.account_id)
    private = pressroom("webhooks", "set", account, "http://10.0.0.1/")
    assert private.code != 0
    assert "not a public one" in private.err
    for arguments in (("show", str(uuid4())), ("send-again", str(uuid4())), ("deliveries", account, "--state", "x")):
        assert pressroom("webhooks", *arguments).code != 0
