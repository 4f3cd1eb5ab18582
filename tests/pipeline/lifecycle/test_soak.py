"""Many threads at once on the same few accounts: nobody deadlocks, and the ledger agrees in the end."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
from lifecycle_machine import connect
from open_counts import MISCOUNTED
from payers import Payer, open_account
from workbench import submission

from pipeline import lifecycle
from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Statement
from pipeline.lifecycle import Beat, ClaimedItem, Outcome

THREADS = 8
SECONDS = 5.0
#: Of each thread, however slow the machine.
LEAST_CALLS = 300
#: Few enough that all meet, and many enough that one claim holds items of most of them: each report then locks jobs,
#: items and accounts that others lock too.
ACCOUNTS = 8
KINDS = ("sketch", "song")
LEASE = timedelta(seconds=30)


class Client:
    """One thread: a connection of its own, without any retry, and a random choice of everything."""

    def __init__(self, connection: psycopg.Connection[Any], payers: list[Payer], jobs: list[UUID], seed: int) -> None:
        self.connection = connection
        self._payers = payers
        self._jobs = jobs  # shared by all
        self._random = random.Random(seed)
        self._held: list[ClaimedItem] = []
        self.calls: Counter[str] = Counter()
        self.errors: list[psycopg.Error] = []

    def work(self, until: float) -> None:
        """Make calls until a time, and as many as it takes for something of everything to happen."""
        calls = [call for call, weight in self._weights() for _ in range(weight)]
        while time.monotonic() < until or self.calls.total() < LEAST_CALLS:
            call = self._random.choice(calls)
            try:
                call()
            except psycopg.Error as error:
                self.errors.append(error)
            self.calls[call.__name__] += 1

    def _weights(self) -> Iterator[tuple[Callable[[], None], int]]:
        yield from [(self.submit, 6), (self.claim, 2), (self.report, 3), (self.beat, 4), (self.raise_hold, 2)]
        yield self.report_and_claim, 5
        yield from [(self.cancel, 1), (self.sweep, 2), (self.die, 1), (self.let_expire, 1), (self.top_up, 1)]

    def _run(self, statement: Statement[Any]) -> Any:
        return statement.read(self.connection.execute(statement.sql, statement.parameters, prepare=True).fetchall())

    def submit(self) -> None:
        prices = [self._random.randrange(4) for _ in range(self._random.choice((1, 4, 4, 6, 40)))]
        key = self._random.choice((None, None, "a", "b"))
        request = submission(
            self._random.choice(self._payers), prices, kind=self._random.choice(KINDS), slice_size=1,
            idempotency_key=key, max_open_items=400,
        )  # fmt: skip
        if self._run(lifecycle.submit(request)).outcome == "accepted":
            self._jobs.append(request.job_id)

    def claim(self) -> None:
        limits = {kind: self._random.randrange(1, 40) for kind in KINDS}
        self._held += self._run(lifecycle.claim(limits, lease_for=LEASE, oldest=self._random.random() < 0.2))

    def report(self) -> None:
        if not self._held:
            return
        leases = {self._recent().lease_id for _ in range(self._random.randrange(1, 4))}
        mine = [item for item in self._held if item.lease_id in leases]
        self._random.shuffle(mine)
        mine = mine[: self._random.randrange(1, 40)]
        outcomes = ("done", "done", "done", "failed", "retry", "release")
        reports = [
            (item.lease_id, [Outcome(item.item_id, self._random.choice(outcomes), item.price)])  # type: ignore[arg-type]
            for item in mine
        ]
        self._run(lifecycle.report_together(reports))
        # A tenth is kept, and reported again later.
        self._held = [item for item in self._held if item not in mine or self._random.random() < 0.1]

    def _recent(self) -> ClaimedItem:
        return self._held[-1 - int(len(self._held) * self._random.random() ** 3)]  # mostly

    def report_and_claim(self) -> None:
        """Do both in one transaction, as workers do: a claim holds no lock that a report may wait for, nor waits."""
        with self.connection.transaction():
            self.report()
            self.claim()

    def beat(self) -> None:
        some = self._random.sample(self._held, min(60, len(self._held)))
        self._run(lifecycle.heartbeat([Beat(i.lease_id, i.item_id, {"done": 1}, 1) for i in some], lease_for=LEASE))

    def raise_hold(self) -> None:
        if self._held:
            item = self._random.choice(self._held)
            self._run(lifecycle.raise_hold(item.lease_id, item.item_id, item.price + self._random.randrange(3)))

    def cancel(self) -> None:
        if self._jobs:
            self._run(lifecycle.cancel(self._random.choice(self._jobs[-50:]), None))

    def die(self) -> None:
        if self._held:
            self.connection.execute(
                "UPDATE item SET lease_until = now() WHERE id = %s AND state = 'leased'", [self._held.pop().item_id]
            )

    def let_expire(self) -> None:
        if self._jobs:
            self.connection.execute("UPDATE job SET deadline = now() WHERE id = %s", [self._random.choice(self._jobs)])

    def top_up(self) -> None:
        self._run(lifecycle.grant_credits(self._random.choice(self._payers).account_id, 50))

    def sweep(self) -> None:
        self.connection.execute("UPDATE item SET run_at = now() WHERE id = ANY(ARRAY(SELECT id FROM item"
                                 " WHERE state = 'waiting' LIMIT 50 FOR NO KEY UPDATE SKIP LOCKED))")  # fmt: skip
        for statement in (
            lifecycle.wake_waiting(),
            lifecycle.uncount(),
            lifecycle.reap(),
            lifecycle.expire(),
            lifecycle.purge(),
        ):
            self._run(statement)
        self.connection.execute("UPDATE job SET expires_at = now() WHERE id = ANY(ARRAY(SELECT id FROM job"
                                 " WHERE state = 'expired' LIMIT 5 FOR NO KEY UPDATE SKIP LOCKED))")  # fmt: skip
        self._run(lifecycle.forget(timedelta()))


def test_eight_threads_of_everything_never_deadlock_and_keep_the_ledger(make_database):
    url = make_database()
    with Database(url) as database:
        payers = [open_account(database, credits=200) for _ in range(ACCOUNTS)]
    jobs: list[UUID] = []
    clients = [Client(connect(url), payers, jobs, seed) for seed in range(THREADS)]
    until = time.monotonic() + SECONDS
    threads = [threading.Thread(target=client.work, args=[until]) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        client.connection.close()

    errors = [error for client in clients for error in client.errors]
    assert errors == []
    with closing(connect(url)) as connection:
        assert connection.execute(discrepancies().sql).fetchall() == []
        assert connection.execute(MISCOUNTED.sql).fetchall() == []
        (states,) = connection.execute("SELECT jsonb_object_agg(state, n) FROM (SELECT state, count(*) AS n"
                                       " FROM job GROUP BY state) counted").fetchall()  # fmt: skip
    # Something of everything did happen.
    assert len(jobs) > 50
    assert {"succeeded", "cancelled", "partial"} <= states["jsonb_object_agg"].keys()
    calls = sum((client.calls for client in clients), Counter())
    print(sum(calls.values()) / SECONDS, "calls a second", states, len(jobs))
