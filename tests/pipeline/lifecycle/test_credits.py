"""Accounts: their first credits, more, and fewer."""

import psycopg
import pytest

from pipeline import lifecycle


@pytest.mark.parametrize("held", [0, 900])
def test_credits_that_are_neither_spent_nor_held_can_be_taken_back(bench, held):
    bench.job_of(held)
    with pytest.raises(psycopg.errors.CheckViolation):
        bench.database.run(lifecycle.grant_credits(bench.payer.account_id, held - 1_001))

    assert bench.database.run(lifecycle.grant_credits(bench.payer.account_id, held - 1_000)) == 0


def test_a_grant_is_not_sent_again_after_a_lost_connection(bench):
    assert not lifecycle.grant_credits(bench.payer.account_id, 500).repeatable
