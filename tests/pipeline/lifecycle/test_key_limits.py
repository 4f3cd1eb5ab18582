"""Credits that a key may use in a month: exact by the ledger, whoever asks at the same time."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from payers import Payer
from workbench import LEASE, Workbench, submission

from pipeline import lifecycle
from pipeline.accounts.keys import KeyLimits, add_key, make_key, revoke_key
from pipeline.database import Database

LIMIT = 10


def limited_key(bench: Workbench, credits: int = LIMIT) -> Payer:
    """Return the account with another key, which may use so many credits a month."""
    key = make_key()
    limits = KeyLimits(credits_per_month=credits)
    bench.database.run(add_key(bench.payer.account_id, key, "limited", limits))
    return Payer(bench.payer.account_id, key.id, key.secret)


@pytest.fixture
def limited(bench: Workbench) -> Payer:
    return limited_key(bench)


def captured(bench: Workbench, payer: Payer) -> int:
    """Return what a key was charged this month, by the ledger alone."""
    (row,) = bench.read(
        "SELECT coalesce(-sum(held_change), 0) AS credits FROM credit_entry WHERE api_key_id = %s"
        " AND entry = 'capture' AND created_at >= date_trunc('month', now(), 'UTC')",
        payer.api_key_id,
    )
    return int(row["credits"])


def deliver(bench: Workbench, credits: int) -> None:
    """Deliver the next item for so many credits."""
    bench.report(bench.claim_one(), credits=credits)


def test_other_keys_are_not_held_up_and_do_not_count(bench, limited):
    bench.job_of(500)
    bench.job_of(LIMIT, payer=limited)

    assert bench.submit(1, payer=limited).outcome == "key_limit"
    assert bench.submit(100).outcome == "accepted"
    assert bench.submit(LIMIT, payer=limited_key(bench)).outcome == "accepted"


def test_a_month_begins_with_all_credits_but_those_that_are_held(bench, limited):
    bench.job_of(4, payer=limited)
    deliver(bench, 4)
    bench.job_of(6, payer=limited)
    bench.write(
        "UPDATE credit_entry SET created_at = date_trunc('month', now(), 'UTC') - interval '1 ms'"
        " WHERE api_key_id = %s",
        limited.api_key_id,
    )

    assert bench.submit(5, payer=limited).outcome == "key_limit"
    assert bench.submit(4, payer=limited).outcome == "accepted"


def test_a_revoked_keys_job_goes_on_within_its_limit(bench, limited):
    bench.job_of(4, payer=limited)
    item = bench.claim_one()
    bench.database.run(revoke_key(limited.api_key_id))

    assert bench.raise_hold(item, LIMIT + 1).outcome == "key_limit"
    assert bench.raise_hold(item, LIMIT).outcome == "raised"


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


def test_the_limit_holds_to_the_credit_when_all_ask_at_once(bench, bench_url):
    limited = limited_key(bench, 100)

    def ask(number: int) -> str:
        return database.run(lifecycle.submit(submission(limited, [3], request_id=str(number)))).outcome

    def work(_: int) -> None:
        for item in database.run(lifecycle.claim({"sketch": 2}, lease_for=LEASE)):
            earned = 3 if item.item_id % 3 else 1
            database.run(lifecycle.report(item.lease_id, [lifecycle.Outcome(item.item_id, "done", earned)]))

    with Database(bench_url, connections=8) as database, ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask if number % 3 else work, number) for number in range(240)]
        outcomes = [one.result() for one in asked]
    bench_all(bench)

    assert outcomes.count("key_limit") > 0
    # No refusal was too early either: less is left than one more would cost.
    spent = captured(bench, limited)
    assert spent <= 100
    left = 100 - spent
    assert [bench.submit(left + 1, payer=limited).outcome, bench.submit(left, payer=limited).outcome] == [
        "key_limit",
        "accepted",
    ]


def bench_all(bench: Workbench) -> None:
    """Deliver what is open."""
    while items := bench.claim(100):
        bench.report_all(items)


def add_captures(bench: Workbench, payer: Payer, count: int, *, age: str) -> None:
    """Charge a key by one credit so often, some time ago, as jobs that have been forgotten."""
    bench.write(
        "WITH job AS (SELECT gen_random_uuid() AS id, greatest(now() - %s::interval, date_trunc('month', now(), 'UTC'))"
        " AS at FROM generate_series(1, %s))"
        " INSERT INTO credit_entry (account_id, api_key_id, job_id, route, entry, available_change, held_change,"
        " created_at) SELECT %s, %s, job.id, '/sketch', e.entry, -e.held, e.held, job.at"
        " FROM job CROSS JOIN (VALUES ('hold', 1), ('capture', -1)) AS e (entry, held)",
        age, count, payer.account_id, payer.api_key_id,
    )  # fmt: skip
    # A capture takes nothing more from the balance.
    bench.write("UPDATE credit_entry SET available_change = 0 WHERE entry = 'capture'")
    bench.write(
        "UPDATE account a SET available = (SELECT sum(available_change) FROM credit_entry e WHERE e.account_id = a.id)"
    )


def note(bench: Workbench, payer: Payer) -> Any:
    rows = bench.read("SELECT before, credits FROM key_spending WHERE api_key_id = %s", payer.api_key_id)
    return rows[0] if rows else None


@pytest.fixture
def busy(bench: Workbench) -> Payer:
    """A key with 5 credits left of 3,000, most of them used hours ago."""
    bench.database.run(lifecycle.grant_credits(bench.payer.account_id, 10_000))
    busy = limited_key(bench, 3_000)
    add_captures(bench, busy, 1_500, age="2 h")
    add_captures(bench, busy, 1_495, age="0 s")
    return busy


def test_what_was_used_long_ago_is_summed_once(bench, busy):
    if bench.read("SELECT now() - date_trunc('month', now(), 'UTC') < interval '3 h' AS early")[0]["early"]:
        pytest.skip("The month is too young for anything to be long ago.")
    assert note(bench, busy) is None
    assert bench.submit(6, payer=busy).outcome == "key_limit"

    assert note(bench, busy)["credits"] == 1_500
    bench.job_of(4, payer=busy)
    deliver(bench, 2)
    refused = bench.submit(4, payer=busy)
    assert (refused.outcome, refused.available) == ("key_limit", 3)
    assert note(bench, busy)["credits"] == 1_500
    # What was noted is not read again.
    bench.write(
        "DELETE FROM credit_entry WHERE created_at < now() - interval '1 h' AND api_key_id = %s", busy.api_key_id
    )
    bench.write("UPDATE account SET available = available + 1500 WHERE id = %s", busy.account_id)
    assert bench.submit(4, payer=busy).available == 3


def test_nothing_is_noted_that_an_older_transaction_may_still_add_to(bench, busy, bench_url):
    with bench.transaction():
        bench.read("SELECT 1")
        with Database(bench_url) as database:
            assert database.run(lifecycle.submit(submission(busy, [6]))).outcome == "key_limit"
            noted = bench.read("SELECT before <= now() AS is_safe FROM key_spending")
    assert noted in ([], [{"is_safe": True}])


def test_a_note_of_another_month_says_nothing(bench, limited):
    bench.write(
        "INSERT INTO key_spending (api_key_id, before, credits)"
        " VALUES (%s, date_trunc('month', now(), 'UTC') - interval '1 s', 10)",
        limited.api_key_id,
    )

    assert bench.submit(LIMIT, payer=limited).outcome == "accepted"


def test_a_key_of_another_account_pays_nothing(bench, limited):
    assert bench.submit(1, payer=replace(bench.payer, api_key_id=make_key().id)).outcome == "unauthorized"
    assert bench.submit(1, payer=limited).outcome == "accepted"
