"""`pressroom accounts` and `pressroom keys`."""

import json
from collections.abc import Callable
from uuid import uuid4

from payers import Payer
from ran import Ran


def test_an_account_is_opened_topped_up_put_into_another_tier_and_listed(pressroom: Callable[..., Ran]) -> None:
    made = json.loads(pressroom("accounts", "create", "Acme [x]", "--tier", "pro", "--credits", "50", "--json").out)
    assert set(made) == {"account_id", "api_key"}

    assert pressroom("accounts", "top-up", made["account_id"], "2500", "--note", "invoice 7").out == "balance 2,550\n"
    assert pressroom("accounts", "set-tier", made["account_id"], "enterprise").out == "tier enterprise\n"
    listed = pressroom("accounts", "list").out
    assert f"{made['account_id']}\tAcme [x]\tenterprise\t2550\t" in listed
    assert made["api_key"] not in listed


def test_a_key_is_created_listed_and_revoked(pressroom: Callable[..., Ran], payer: Payer) -> None:
    made = json.loads(pressroom("keys", "create", str(payer.account_id), "--name", "robot", "--json").out)
    listed = pressroom("keys", "list", str(payer.account_id)).out
    assert "robot" in listed
    assert made["api_key"] not in listed

    assert pressroom("keys", "revoke", made["key_id"]).out.startswith("revoked robot")


def test_a_key_has_the_limits_that_it_is_created_with(pressroom: Callable[..., Ran], payer: Payer) -> None:
    account = str(payer.account_id)
    options = ["--rate", "30", "--credits-a-month", "1000", "--route", "/tts", "--route", "/tts/batch"]
    made = json.loads(pressroom("keys", "create", account, "--name", "limited", *options, "--json").out)

    header, *lines = pressroom("keys", "list", account).out.splitlines()
    keys = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    (listed,) = (key for key in keys if key["id"] == made["key_id"])
    assert (listed["a minute"], listed["credits a month"], listed["routes"]) == ("30", "1000", "/tts /tts/batch")


def test_a_key_with_a_limit_that_means_nothing_is_not_created(pressroom: Callable[..., Ran], payer: Payer) -> None:
    account = str(payer.account_id)
    before = pressroom("keys", "list", account).out

    misspelt = pressroom("keys", "create", account, "--route", "/tss")
    assert misspelt.code == 1
    assert "Did you mean /tts" in misspelt.err
    assert pressroom("keys", "create", account, "--rate", "0").code == 2
    assert pressroom("keys", "create", account, "--credits-a-month", "-1").code == 2
    assert pressroom("keys", "list", account).out == before


def test_a_key_that_is_listed_for_a_program_is_the_one_to_revoke(pressroom: Callable[..., Ran], payer: Payer) -> None:
    pressroom("keys", "create", str(payer.account_id), "--name", "two\twords")

    header, *lines = pressroom("keys", "list", str(payer.account_id)).out.splitlines()
    keys = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]

    (made,) = (key for key in keys if key["name"] == "two words")
    assert pressroom("keys", "revoke", made["id"]).code == 0


def test_an_account_is_suspended_and_goes_on(
    pressroom: Callable[..., Ran], payer: Payer, submit: Callable[[], str]
) -> None:
    submit()

    assert pressroom("accounts", "suspend", str(payer.account_id)).out == "suspended\n"
    assert "suspended 1" in pressroom("sweep").out.splitlines()
    assert pressroom("accounts", "resume", str(payer.account_id)).out == "resumed\n"
    assert "suspended 0" in pressroom("sweep").out.splitlines()
    assert pressroom("accounts", "suspend", str(uuid4())).code == 1
