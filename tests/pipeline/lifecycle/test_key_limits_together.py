"""Submissions by a limited key that share a transaction: exact as one by one, cheap as those of other keys."""

import pytest
from payers import Payer
from workbench import Workbench, submission

from pipeline import lifecycle
from pipeline.accounts.keys import KeyLimits, add_key, make_key


@pytest.fixture
def limited(bench: Workbench) -> Payer:
    """The account with another key, which may use ten credits a month."""
    key = make_key()
    bench.database.run(add_key(bench.payer.account_id, key, "limited", KeyLimits(credits_per_month=10)))
    return Payer(bench.payer.account_id, key.id, key.secret)


def test_submissions_that_go_together_end_at_the_limit(bench, limited):
    asked = [lifecycle.submit(submission(limited, [3])) for _ in range(6)]

    outcomes = [answer.outcome for answer in bench.database.run_together(asked)]

    assert outcomes == ["accepted"] * 3 + ["key_limit"] * 3
    assert bench.balance() == 1_000 - 9


def test_submissions_that_go_together_count_the_open_jobs_once(bench, limited):
    for _ in range(6):
        bench.job_of(1, payer=limited)
    rows_read = "SELECT coalesce(sum(idx_tup_fetch), 0) AS rows FROM pg_stat_xact_user_tables WHERE relname = 'job'"

    with bench.transaction() as together:
        read = []
        for _ in range(3):
            statement = lifecycle.submit(submission(limited, [1]))
            answer = statement.read(together.execute(statement.sql, statement.parameters).fetchall())
            assert answer.outcome == "accepted"
            row = together.execute(rows_read).fetchone()
            assert row is not None
            read.append(row["rows"])

    first, *later = (after - before for before, after in zip([0, *read], read, strict=False))
    assert max(later) < 6 <= first
