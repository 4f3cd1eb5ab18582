"""Accounts: their first credits, more, and fewer."""

from uuid import uuid4

import psycopg
import pytest
from payers import open_account

from pipeline import lifecycle


def test_an_account_opens_with_its_credits_in_the_ledger(bench):
    open_account(bench.database, credits=0)

    assert bench.balance() == 1_000
    assert [row["entry"] for row in bench.read("SELECT entry FROM credit_entry")] == ["grant"]


def test_a_top_up_is_added_and_the_new_balance_told(bench):
    assert bench.database.run(lifecycle.grant_credits(bench.payer.account_id, 500, "a present")) == 1_500
    assert bench.database.run(lifecycle.grant_credits(uuid4(), 500)) is None


@pytest.mark.parametrize("held", [0, 900])
def test_credits_that_are_neither_spent_nor_held_can_be_taken_back(bench, held):
    bench.job_of(held)
    with pytest.raises(psycopg.errors.CheckViolation):
        bench.database.run(lifecycle.grant_credits(bench.payer.account_id, held - 1_001))

    assert bench.database.run(lifecycle.grant_credits(bench.payer.account_id, held - 1_000)) == 0


def test_a_grant_is_not_sent_again_after_a_lost_connection(bench):
    assert not lifecycle.grant_credits(bench.payer.account_id, 500).repeatable
