"""The life cycle in SQL: what PostgreSQL does of it a second, asked by plain connections without any HTTP."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from uuid import uuid4

import psycopg
from psycopg.types.json import Jsonb

from benchmarks.report import Table
from benchmarks.systems import Running, finish_everything, pressroom
from pipeline import lifecycle
from pipeline.accounts.keys import Caller, find_caller, hash_key
from pipeline.database import Database, Statement
from pipeline.lifecycle import Outcome, Submission

CLIENTS = (1, 8)
BIG = 10_000
#: Items that a report of a big job takes along.
BATCH = 25
LEASE = timedelta(minutes=5)
WORKERS = 4


def measure(*, quick: bool) -> Iterator[Table]:
    """Measure small jobs and big ones."""
    rounds, count = (3, 400) if quick else (5, 2_000)
    with pressroom("--pool", "made_up=0") as running:
        caller = _caller(running)
        yield _small_jobs(running, caller, rounds, count)
        yield _big_jobs(running, caller, rounds)


def _small_jobs(running: Running, caller: Caller, rounds: int, count: int) -> Table:
    table = Table("Life cycle in SQL, jobs of one item", "Each client a process with one connection; one account.")
    for clients in CLIENTS:
        submitted, worked = [], []
        for _ in range(rounds):
            submitted.append(_rate(clients, count, _submit_some, running.database_url, caller))
            worked.append(_rate(clients, count, _work_some, running.database_url, 1))
            finish_everything(running)
        table.bound(f"submit, {clients} at once", submitted, unit="/s")
        table.bound(f"claim, report and settle, {clients} at once", worked, unit="/s")
    return table


def _big_jobs(running: Running, caller: Caller, rounds: int) -> Table:
    table = Table(
        "Life cycle in SQL, a job of 10,000 items", "Raw: COPY of the same rows into the same table, no more."
    )
    ours, copied, worked = [], [], []
    with Database(running.database_url) as database, psycopg.connect(running.database_url) as connection:
        for _ in range(rounds):
            began = time.perf_counter()
            database.run(_submission(caller, BIG))
            ours.append((time.perf_counter() - began) * 1_000)
            worked.append(_rate(WORKERS, BIG, _work_some, running.database_url, BATCH))
            finish_everything(running)
            copied.append(_copy(connection))
    table.bound("submit in one call", ours, unit="ms", raw=copied)
    table.bound(f"claim and report in batches of {BATCH}, {WORKERS} at once", worked, unit="items/s")
    return table


def _caller(running: Running) -> Caller:
    with Database(running.database_url) as database:
        caller = database.run(find_caller(hash_key(running.key)))
    assert caller is not None
    return caller


def _submission(caller: Caller, items: int) -> Statement[lifecycle.Submitted]:
    return lifecycle.submit(
        Submission(
            account_id=caller.account_id,
            api_key_id=caller.api_key_id,
            kind="made_up",
            route="/made-up",
            request={"count": items},
            request_id=uuid4().hex,
            request_hash=bytes(32),
            items=[({"url": f"https://example.org/{number}"}, 1, None) for number in range(items)],
            deadline=timedelta(hours=1),
            keep_for=timedelta(hours=24),
            slice_size=8,
            max_open_items=10_000_000,
        )
    )


def _submit_some(database: Database, caller: Caller, count: int) -> None:
    for _ in range(count):
        database.run(_submission(caller, 1))


def _work_some(database: Database, batch: int, count: int) -> None:
    """Claim and report until so many items are done, or none is left."""
    while count > 0 and (claimed := database.run(lifecycle.claim({"made_up": batch}, lease_for=LEASE))):
        outcomes = [Outcome(item.item_id, "done", item.price, output={"index": item.index}) for item in claimed]
        database.run(lifecycle.report(claimed[0].lease_id, outcomes))
        count -= len(claimed)


def _rate(clients: int, count: int, work: Callable[..., None], url: str, *arguments: object) -> float:
    """Return how many a second some processes do together, from when all of them are connected."""
    context = get_context("fork")
    start = context.Barrier(clients + 1)
    processes = [
        context.Process(target=_take_part, args=(start, work, url, *arguments, count // clients))
        for _ in range(clients)
    ]
    for process in processes:
        process.start()
    start.wait()
    began = time.perf_counter()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    return count / (time.perf_counter() - began)


def _take_part(start: Barrier, work: Callable[..., None], url: str, *arguments: object) -> None:
    with Database(url) as database:
        database.run(Statement("SELECT 1"))
        start.wait()
        work(database, *arguments)


def _copy(connection: psycopg.Connection) -> float:
    """Return the ms that COPY takes for the rows of a big job; they are rolled back."""
    job = connection.execute("SELECT id FROM job LIMIT 1").fetchone()
    assert job is not None
    began = time.perf_counter()
    rows = "COPY item (job_id, index, kind, round, price, input) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(rows) as copy:
        for number in range(BIG):
            place = BIG + number  # beside those that the job has
            copy.write_row((job[0], place, "made_up", number // 8, 1, Jsonb({"url": f"https://example.org/{number}"})))
    took = (time.perf_counter() - began) * 1_000
    connection.rollback()
    return took
