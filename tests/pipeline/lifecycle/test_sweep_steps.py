"""The sweep: dead workers, items whose time has come, and what is thrown away."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
from open_counts import MISCOUNTED
from servers import WAITS_FOR_US
from waiting import wait_for
from workbench import Workbench

from pipeline import lifecycle
from pipeline.database import Database, Statement
from pipeline.identifiers import machine


def reap(bench: Workbench):
    return bench.database.run(lifecycle.reap())


def test_items_of_a_dead_worker_come_again_after_1_and_2_seconds_and_die_at_the_third_crash(bench):
    job_id = bench.job_of(5)
    for crashes, pause in ((1, 1), (2, 2)):
        item = bench.claim_one()
        bench.kill_worker(item)

        assert reap(bench) == lifecycle.Reaped(job_id, 1, None)
        row = bench.item(item.item_id)
        assert (row["state"], row["crashes"]) == ("waiting", crashes)
        assert row["run_at"] - row["updated_at"] == timedelta(seconds=pause)
        assert bench.claim() == []
        bench.wake_early()

    bench.kill_worker(bench.claim_one())
    assert reap(bench) == lifecycle.Reaped(job_id, 1, "failed")
    job = bench.job(job_id)
    assert (job["items_failed"], job["error"]) == (1, lifecycle.CRASHED)
    assert bench.balance() == 1_000


def test_a_lease_lost_with_the_whole_system_is_no_crash_however_often(bench):
    bench.job_of()
    for _ in range(4):
        item = bench.claim_one()
        bench.kill_worker(item)
        before = bench.item(item.item_id)["lease_until"]
        assert bench.database.run(lifecycle.recover(before, [])) == 0
        assert bench.database.run(lifecycle.recover(before + timedelta(seconds=1), [])) == 1
        assert reap(bench) is None
        bench.wake_early()

    assert (bench.claim_one().item_id, bench.item(item.item_id)["crashes"]) == (item.item_id, 0)


def test_a_lease_lost_with_its_machine_is_no_crash(bench):
    bench.job_of()
    assert bench.database.run(lifecycle.overdue_machines()) == []
    bench.kill_worker(bench.claim_one())

    assert bench.database.run(lifecycle.overdue_machines()) == [machine()]
    assert bench.database.run(lifecycle.recover(None, ["01234567"])) == 0
    assert bench.database.run(lifecycle.recover(None, [machine()])) == 1
    assert reap(bench) is None


def test_a_job_that_is_locked_is_left_for_the_next_sweep(bench):
    locked, free = bench.job_of(), bench.job_of()
    for item in (bench.claim_one(), bench.claim_one()):
        bench.kill_worker(item)
    with bench.transaction() as other:
        other.execute("SELECT FROM job WHERE id = %s FOR NO KEY UPDATE", [locked])
        assert reap(bench).job_id == free
        assert reap(bench) is None
    assert reap(bench).job_id == locked


# Throwing away


def ended(bench: Workbench, items: int = 1):
    """Return a job that has succeeded."""
    job_id = bench.job_of(*[1] * items)
    bench.report_all(bench.claim(items))
    return job_id


def test_expired_results_go_and_the_summary_stays(bench):
    job_id = ended(bench, items=3)
    bench.job_of()  # open, so it stays
    assert bench.database.run(lifecycle.purge()) is None
    bench.let_results_expire(job_id)

    assert bench.database.run(lifecycle.purge()) == 3
    assert bench.database.run(lifecycle.purge()) is None
    job = bench.job(job_id)
    assert bench.items(job_id) == []
    assert (job["request"], job["state"], job["items_ok"]) == ({}, "succeeded", 3)
    assert job["purged_at"] is not None


def test_old_summaries_are_forgotten_and_the_ledger_stays(bench):
    job_id, recent = ended(bench), ended(bench)
    for gone in (job_id, recent):
        bench.let_results_expire(gone)
        bench.database.run(lifecycle.purge())
    bench.write("UPDATE job SET finished_at = now() - interval '91 days' WHERE id = %s", job_id)

    assert bench.database.run(lifecycle.forget(timedelta(days=90))) == 1
    assert bench.read("SELECT id FROM job") == [{"id": recent}]
    assert len(bench.entries(job_id)) == 2
    assert bench.balance() == 998


def test_a_summary_with_items_is_not_forgotten(bench):
    job_id = ended(bench)
    bench.write("UPDATE job SET finished_at = now() - interval '91 days' WHERE id = %s", job_id)

    assert bench.database.run(lifecycle.forget(timedelta(days=90))) == 0


#: Lets who takes ended jobs off wait after it has read which, until the lock of this number is given back.
WAIT_AFTER_READING = """
CREATE FUNCTION wait_after_reading() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END';
CREATE TRIGGER wait_after_reading AFTER DELETE ON ended_job FOR EACH STATEMENT EXECUTE FUNCTION wait_after_reading()
"""


def test_a_job_that_ends_while_its_account_is_counted_is_not_taken_off_what_comes_next(bench, bench_url):
    cancelled = bench.job_of(1)
    bench.job_of(1, 1)
    bench.cancel(cancelled)
    items = bench.claim(2)
    bench.write(WAIT_AFTER_READING)
    bench.write("SELECT pg_advisory_lock(1)")
    with Database(bench_url) as database, ThreadPoolExecutor(1) as sweep:
        counted = sweep.submit(database.run, lifecycle.uncount())
        try:
            wait_for(lambda: bench.read(WAITS_FOR_US), about=lambda: "It waited for nothing.")
            bench.report_all(items)  # all that was held is captured, so this does not wait for the account
        finally:
            bench.write("SELECT pg_advisory_unlock_all()")
        assert counted.result() == 2
    bench.write("DROP FUNCTION wait_after_reading CASCADE")

    bench.job_of(1, 1)
    bench.database.run(lifecycle.uncount())
    assert bench.read("SELECT open_items, open_by_kind FROM account") == [
        {"open_items": 2, "open_by_kind": {"sketch": 2}}
    ]
    assert bench.database.run(MISCOUNTED) == []


def schemas(bench: Workbench) -> set[str]:
    rows = bench.database.run(Statement("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'lifecycle\\_%%'"))
    return {row["nspname"] for row in rows}


def test_functions_of_another_version_are_dropped_once_nobody_has_used_them_for_so_long(bench, bench_url):
    old, abroad = "lifecycle_0123456789ab", "lifecycle_of_others"

    def execute(sql: str) -> None:
        with psycopg.connect(bench_url) as connection:
            connection.execute(sql)

    for name in (old, abroad):
        execute(f"CREATE SCHEMA {name}; CREATE FUNCTION {name}.claim() RETURNS int LANGUAGE sql AS 'SELECT 1'")

    def retire(*used: str, keep: timedelta = timedelta(days=30)) -> list[str]:
        return bench.database.run(lifecycle.retire({lifecycle.SCHEMA, *used}, keep))

    assert retire() == []  # nothing is known of it: its time begins now
    assert retire() == []
    execute(f"COMMENT ON SCHEMA {old} IS '2020-01-01 00:00:00+00'")
    assert retire(old) == []  # a process of it runs
    assert retire() == []  # it was in use just now
    execute(f"COMMENT ON SCHEMA {old} IS '2020-01-01 00:00:00+00'")
    assert retire() == [old]
    assert schemas(bench) == {lifecycle.SCHEMA, abroad}
    execute(f"DROP SCHEMA {abroad} CASCADE")
