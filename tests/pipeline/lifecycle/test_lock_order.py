"""Locks are taken in order: jobs by id, each with its items by id, then accounts by id. So no two callers deadlock.

Whoever waits for one holds those before it and none after it."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from payers import open_account
from servers import WAITS_FOR_US
from workbench import LEASE, Workbench

from pipeline import lifecycle
from pipeline.database import Statement
from pipeline.lifecycle import Beat, ClaimedItem, Outcome


@contextmanager
def waiting_for(bench: Workbench, table: str, row: Any, statement: Statement[Any]) -> Iterator[None]:
    """Run the block while a statement waits for a row that somebody else has locked."""
    with ThreadPoolExecutor(1) as caller:
        with bench.transaction() as other:
            other.execute(f"SELECT FROM {table} WHERE id = %s FOR NO KEY UPDATE", [row])
            answer = caller.submit(bench.database.run, statement)
            until = time.monotonic() + 120
            while not other.execute(WAITS_FOR_US).fetchall():
                assert time.monotonic() < until, "It waited for nothing."
                assert not answer.done(), answer.result()
                time.sleep(0.002)
            yield
        answer.result()


def are_locked(bench_url: str, table: str, rows: Sequence[Any]) -> list[bool]:
    """Return for each row whether anybody has locked it."""
    with psycopg.connect(bench_url) as connection:
        free = {
            row[0]
            for row in connection.execute(
                f"SELECT id FROM {table} WHERE id = ANY(%s) FOR NO KEY UPDATE SKIP LOCKED", [list(rows)]
            )
        }
    return [row not in free for row in rows]


def many_jobs(bench: Workbench, payers: int = 1) -> list[ClaimedItem]:
    """Return items of six jobs, on a lease each, shuffled; each item is all of its job."""
    accounts = [bench.payer, *(open_account(bench.database) for _ in range(payers - 1))]
    for number in range(6):
        bench.job_of(2, payer=accounts[number % payers], slice_size=100)
    items = [bench.claim_one() for _ in range(6)]
    return [items[place] for place in (3, 0, 5, 1, 4, 2)]


def done(items: Sequence[ClaimedItem]) -> Statement[Any]:
    return lifecycle.report_together((item.lease_id, [Outcome(item.item_id, "done", 1)]) for item in items)


def beats(items: Sequence[ClaimedItem]) -> Statement[Any]:
    return lifecycle.heartbeat([Beat(item.lease_id, item.item_id) for item in items], lease_for=LEASE)


def test_a_report_locks_its_jobs_in_order(bench, bench_url):
    items = many_jobs(bench)
    jobs = sorted(item.job_id for item in items)

    with waiting_for(bench, "job", jobs[3], done(items)):
        assert are_locked(bench_url, "job", jobs) == [True] * 4 + [False] * 2


@pytest.mark.parametrize("statement", [done, beats])
def test_items_are_locked_in_order(bench, bench_url, statement: Callable[..., Statement[Any]]):
    items = many_jobs(bench)
    ids = [item.item_id for item in sorted(items, key=lambda item: (item.job_id, item.item_id))]

    with waiting_for(bench, "item", ids[3], statement(items)):
        assert are_locked(bench_url, "item", ids) == [True] * 4 + [False] * 2


def test_stopping_a_job_locks_its_items_in_order(bench, bench_url):
    job_id = bench.job_of(*[1] * 6)
    ids = [item["id"] for item in bench.items(job_id)]

    with waiting_for(bench, "item", ids[3], lifecycle.cancel(job_id, None)):
        assert are_locked(bench_url, "item", ids) == [True] * 4 + [False] * 2


def test_accounts_are_locked_in_order(bench, bench_url):
    items = many_jobs(bench, payers=6)
    accounts = sorted(item.account_id for item in items)

    with waiting_for(bench, "account", accounts[3], done(items)):
        assert are_locked(bench_url, "account", accounts) == [True] * 4 + [False] * 2


def test_a_report_locks_jobs_before_items_and_items_before_accounts(bench, bench_url):
    items = many_jobs(bench)

    with waiting_for(bench, "job", min(item.job_id for item in items), done(items)):
        assert are_locked(bench_url, "item", [item.item_id for item in items]) == [False] * 6
    again = many_jobs(bench)
    with waiting_for(bench, "account", bench.payer.account_id, done(again)):
        assert are_locked(bench_url, "item", [item.item_id for item in again]) == [True] * 6


@pytest.mark.parametrize("table", ["job", "account"])
def test_a_heartbeat_waits_for_no_job_and_no_account(bench, table):
    items = many_jobs(bench)
    with bench.transaction() as other:
        other.execute(f"SELECT FROM {table} FOR NO KEY UPDATE")
        assert len(bench.database.run(beats(items))) == 6


def test_a_claim_waits_for_nobody(bench):
    job_id = bench.job_of(1, 1, 1)
    with bench.transaction() as other:
        other.execute("SELECT FROM account FOR NO KEY UPDATE")
        other.execute("SELECT FROM job FOR NO KEY UPDATE")
        other.execute("SELECT FROM item WHERE index = 1 FOR NO KEY UPDATE")
        assert [item.index for item in bench.claim(3)] == [0, 2]
    assert bench.job(job_id)["state"] == "queued"  # the next claim starts it, or its end
    bench.claim()
    assert bench.job(job_id)["state"] == "running"


def test_a_sweep_waits_for_no_job(bench):
    job_id = bench.job_of()
    bench.kill_worker(bench.claim_one())
    bench.let_expire(job_id)
    with bench.transaction() as other:
        other.execute("SELECT FROM job FOR NO KEY UPDATE")
        assert bench.database.run(lifecycle.reap()) is None
        assert bench.database.run(lifecycle.expire()) is None
        assert bench.database.run(lifecycle.purge()) is None
        assert bench.database.run(lifecycle.wake_waiting()) == {}


def test_a_late_report_or_heartbeat_waits_for_nobody(bench):
    items = many_jobs(bench)
    bench.database.run(done(items))
    with bench.transaction() as other:
        for table in ("account", "item"):
            other.execute(f"SELECT FROM {table} FOR NO KEY UPDATE")
        assert bench.database.run(beats(items)) == set()
        assert bench.database.run(done(items)) == []
