"""Usage is the ledger's, whether it was summed before or not; what was summed is not read again."""

import threading
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from payers import Payer, open_account
from psycopg.rows import dict_row
from servers import pages_of
from workbench import Workbench

from pipeline.accounts.ledger import discrepancies
from pipeline.accounts.stored_keys import list_keys
from pipeline.database import Database, Statement
from pipeline.usage.usage_days import _ADD, sum_usage
from pipeline.usage.usage_report import DaySpan, read_usage, read_used

#: Lines of a ledger that are enough to show that they were read.
MANY = 20_000


@pytest.fixture
def bench(database: Database, payer: Payer, database_url: str) -> Any:
    with psycopg.connect(database_url, autocommit=True, row_factory=dict_row) as connection:
        yield Workbench(database, payer, connection)


def age(bench: Workbench, interval: str) -> None:
    """Let all lines of the ledger be so much older."""
    bench.write("UPDATE credit_entry SET created_at = created_at - %s::interval", interval)


def read_all(bench: Workbench) -> tuple[Any, ...]:
    """Return everything that is told of an account's usage."""
    account = bench.payer.account_id
    span = DaySpan(datetime(2000, 1, 1, tzinfo=UTC).date(), datetime.now(UTC).date())
    used = bench.database.run(read_used(account, span))
    keys = [(one.id, one.credits_used_this_month, one.credits_held) for one in bench.database.run(list_keys(account))]
    return bench.database.run(read_usage(account)), sorted(used, key=str), keys


def work(bench: Workbench) -> None:
    """Charge a job, give another back, and leave a third one open."""
    bench.job_of(2, 3)
    bench.report_all(bench.claim(2))
    bench.cancel(bench.job_of(4, kind="song"))
    bench.job_of(5, kind="song")


def test_usage_is_the_same_whether_it_was_summed_or_not(bench):
    sums = bench.read("SELECT * FROM usage_day")
    assert sums == []
    work(bench)
    age(bench, "40 days")
    work(bench)
    age(bench, "2 hours")
    work(bench)
    before = read_all(bench)
    assert before[0]["total_credits_used"] == 15
    assert before[0]["credits_held"] == 15

    assert sum_usage(bench.database) > 0

    assert read_all(bench) == before
    (mark,) = bench.read(
        "SELECT before < now() - interval '1 min' AND before > now() - interval '1 h' AS ok FROM usage_summed"
    )
    assert mark["ok"]
    (summed,) = bench.read("SELECT sum(requests) AS requests, sum(held) AS held FROM usage_day")
    assert (summed["requests"], summed["held"]) == (6, 10)
    bench.check()

    assert sum_usage(bench.database) == 0
    assert read_all(bench) == before


def test_what_was_summed_is_added_to_once_its_lines_are_old_enough(bench):
    work(bench)
    assert sum_usage(bench.database) == 0, "a line of this minute may have neighbours that are not committed"
    bench.write("UPDATE usage_summed SET before = now() - interval '1 h'")
    age(bench, "5 min")

    assert sum_usage(bench.database) == 2
    work(bench)
    age_of_new = (
        "UPDATE credit_entry SET created_at = created_at - interval '3 min' WHERE created_at > now() - interval '1 min'"
    )
    bench.write("UPDATE usage_summed SET before = now() - interval '4 min'")
    bench.write(age_of_new)
    assert sum_usage(bench.database) == 2

    (summed,) = bench.read("SELECT sum(requests) AS requests, sum(credits) AS credits FROM usage_day")
    assert (summed["requests"], summed["credits"]) == (6, 10)
    bench.check()


def test_a_line_of_a_transaction_that_still_runs_is_not_left_out(bench, database_url):
    work(bench)
    age(bench, "1 h")
    with psycopg.connect(database_url) as slow:
        slow.execute("SELECT")
        bench.write("SELECT pg_sleep(0.01)")

        sum_usage(bench.database)

        (mark,) = bench.read(
            "SELECT s.before <= min(a.xact_start) AS ok FROM usage_summed s, pg_stat_activity a"
            " WHERE a.datname = current_database() GROUP BY s.before"
        )
        assert mark["ok"]


def test_of_several_sweeps_one_sums(bench, database_url):
    work(bench)
    age(bench, "3 days")
    with Database(database_url) as other:
        done: list[int] = []
        threads = [
            threading.Thread(target=lambda of=one: done.append(sum_usage(of))) for one in (bench.database, other)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    (summed,) = bench.read("SELECT sum(requests) AS requests FROM usage_day")
    assert summed["requests"] == 3
    bench.check()


def test_the_audit_finds_a_sum_that_is_not_the_ledgers(bench):
    work(bench)
    age(bench, "1 h")
    sum_usage(bench.database)
    bench.check()

    bench.write("UPDATE usage_day SET credits = credits + 1 WHERE route = '/sketch'")
    bench.write("DELETE FROM usage_day WHERE route = '/song'")

    found = [str(one) for one in bench.database.run(discrepancies())]
    assert len(found) == 3
    assert all(one.startswith("a day of usage is the sum of its ledger lines") for one in found)


def test_usage_and_keys_read_no_lines_that_were_summed(bench, database_url):
    bench.write(
        "INSERT INTO credit_entry (account_id, api_key_id, job_id, route, entry, available_change, held_change,"
        " created_at) SELECT %s, %s, gen_random_uuid(), '/sketch', 'hold', -1, 1, now() - n * interval '1 min'"
        " FROM generate_series(1, %s) n",
        bench.payer.account_id,
        bench.payer.api_key_id,
        MANY,
    )
    neighbour = open_account(bench.database)
    account = bench.payer.account_id
    asked = [
        read_usage(account),
        read_used(account, DaySpan(datetime(2000, 1, 1, tzinfo=UTC).date(), datetime.now(UTC).date())),
        list_keys(account),
        list_keys(neighbour.account_id),
    ]
    bench.write("VACUUM ANALYZE")
    sum_usage(bench.database)
    bench.write("VACUUM ANALYZE")

    with psycopg.connect(database_url, autocommit=True, row_factory=dict_row) as connection:
        assert [pages for pages in (pages_of(connection, one) for one in asked) if pages > 20] == []
        # Nor does the next step read them: what is new is found by when it was made.
        turn = {"since": datetime.now(UTC), "until": datetime.now(UTC)}
        assert pages_of(connection, Statement(_ADD, turn)) < 100
