"""Many faults while many jobs run: every job ends, and every credit is accounted for."""

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import redis
from systems import FAST, Running, kill, only, system

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Row, Statement
from pipeline.errors import PressroomError
from scripts.system import control

pytestmark = [pytest.mark.system, pytest.mark.timeout(3_600)]

KILLS = 16
CLIENTS = 3
#: Longer than the lease of the system under test, so that a frozen worker wakes as a zombie.
FROZEN_SECONDS = 4.0

#: Items that would be given up at one more crash.
UNLUCKY: Statement[list[Row]] = Statement(
    "SELECT id FROM item WHERE crashes >= 2 AND state IN ('waiting', 'ready', 'leased')"
)

#: What clients ask for: short and long, good and bad, and never an item that kills its worker by itself.
REQUESTS: tuple[dict[str, Any], ...] = (
    {"count": 1},
    {"count": 20},
    {"items": [{"do": "sleep", "seconds": 0.3}]},
    {"items": [{"do": "sleep", "seconds": 0.1}, {"do": "fail"}, {}]},
    {"items": [{"do": "raise", "credits": 3}], "price": 1},
    {"items": [{"do": "retry_once", "after": 0.2}, {"do": "throw_once"}]},
)


@dataclass
class Load:
    """Clients that submit until they are told to stop; each request is sent until it is answered."""

    running: Running
    stopped: threading.Event = field(default_factory=threading.Event)
    jobs: dict[str, str] = field(default_factory=dict)
    errors: list[BaseException] = field(default_factory=list)

    def start(self) -> list[threading.Thread]:
        threads = [threading.Thread(target=self._send, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        return threads

    def _send(self, number: int) -> None:
        choose = random.Random(number)
        sent = 0
        try:
            while not self.stopped.is_set():
                key = f"client-{number}-{sent}"
                job_id = self.running.submit(choose.choice(REQUESTS), Idempotency_Key=key)
                assert self.jobs.setdefault(key, job_id) == job_id
                sent += 1
                time.sleep(0.05)
        except BaseException as error:
            self.errors.append(error)
            raise


class Chaos:
    """Kills what it is told to, and counts it."""

    def __init__(self, running: Running, database: Database, seed: int) -> None:
        self._running = running
        self._database = database
        self._choose = random.Random(seed)
        self.done: Counter[str] = Counter()

    def once(self, number: int) -> None:
        """Kill a worker or its master; every so often, hurt something else too."""
        self._wait_for_the_unlucky()
        self._kill_worker()
        others: tuple[Callable[[], None], ...] = (
            self._kill_redis,
            self._flush_redis,
            self._restart_postgres,
            self._kill_api,
            self._freeze_worker,
        )
        if number % 3 == 2:
            self._wait_for_the_unlucky()
            others[(number // 3) % len(others)]()
        time.sleep(self._choose.uniform(0.1, 0.6))

    def _wait_for_the_unlucky(self) -> None:
        """Wait until no item would be given up if its worker were killed: how often one is hit is not for luck to say.

        On a slow machine the one worker that is there already may be hit three times in a row, with the same item. That
        what has crashed runs alone, the tests of a pool's process tell.
        """
        until = time.monotonic() + 120
        while True:
            with suppress(PressroomError):  # the database, or the supervisor, is just starting again
                if not self._database.run(UNLUCKY):
                    return
            assert time.monotonic() < until, "no worker takes what has crashed twice"
            time.sleep(0.05)

    def _kill_worker(self) -> None:
        until = time.monotonic() + 120
        while time.monotonic() < until:
            found = [*self._running.workers("made_up"), *self._running.pids("made_up")]
            if found and kill(self._choose.choice(found)):
                self.done["worker killed"] += 1
                return
            time.sleep(0.05)
        raise AssertionError("no worker came back within two minutes")

    def _kill_redis(self) -> None:
        self._kill_server("redis", signal.SIGKILL)

    def _restart_postgres(self) -> None:
        # SIGQUIT is PostgreSQL's immediate shutdown: no checkpoint, every connection cut, recovery at the next start.
        self._kill_server("postgres", signal.SIGQUIT)

    def _kill_server(self, name: str, sent: signal.Signals) -> None:
        for pid in self._running.pids(name):
            self.done[f"{name} killed"] += kill(pid, sent)

    def _flush_redis(self) -> None:
        state = control.find_system(self._running.data)
        assert state
        try:
            with redis.Redis.from_url(state.redis_url) as client:
                client.flushall()
            self.done["redis flushed"] += 1
        except redis.RedisError:
            pass  # it is down: the clearest of flushes

    def _kill_api(self) -> None:
        for pid in self._running.pids("api"):
            self.done["api killed"] += kill(pid)

    def _freeze_worker(self) -> None:
        for pid in self._running.workers("made_up")[:1]:
            if kill(pid, signal.SIGSTOP):
                self.done["worker frozen"] += 1
                threading.Timer(FROZEN_SECONDS, kill, (pid, signal.SIGCONT)).start()


def test_every_job_ends_and_every_credit_is_accounted_for(tmp_path: Path) -> None:
    with system(tmp_path / "data", "--pool", "made_up=3", *only("made_up"), extra=FAST) as running:
        load = Load(running)
        clients = load.start()
        with Database(running.database_url) as database:
            chaos = Chaos(running, database, seed=KILLS)
            for number in range(KILLS):
                chaos.once(number)
        load.stopped.set()
        for client in clients:
            client.join()
        assert not load.errors
        print(f"\n{len(load.jobs):,} jobs; {dict(chaos.done)}")
        assert chaos.done["worker killed"] == KILLS

        for job_id in load.jobs.values():
            running.wait_for_state(job_id, seconds=120)

        with Database(running.database_url) as database:
            check_books(database, load)


def check_books(database: Database, load: Load) -> None:
    """Every request made exactly one job, which ended; nothing was charged twice or for nothing."""
    assert database.run(discrepancies()) == []
    rows = database.run(
        Statement(
            "SELECT j.id::text, j.idempotency_key, j.state, j.error, j.items_total, j.credits_held, j.credits_captured,"
            " count(*) FILTER (WHERE i.state = 'done') AS done,"
            " count(*) FILTER (WHERE i.state = 'failed') AS failed,"
            " count(*) FILTER (WHERE i.state = 'done' AND i.output IS NULL) AS empty,"
            " count(*) FILTER (WHERE i.error ->> 'code' = 'worker_crashed') AS crashed,"
            " sum(i.captured) FILTER (WHERE i.state <> 'done') AS undelivered"
            " FROM job j JOIN item i ON i.job_id = j.id GROUP BY j.id"
        )
    )
    assert {row["idempotency_key"]: row["id"] for row in rows} == load.jobs
    assert len(rows) == len(load.jobs)
    for row in rows:
        assert row["done"] + row["failed"] == row["items_total"], row
        assert row["empty"] == 0, row
        assert not row["undelivered"], row
        assert row["credits_captured"] >= row["done"], row
    crashed = sum(row["crashed"] for row in rows)
    # Innocent items run alone after their first crash, so three in a row is bad luck and rare.
    assert crashed <= max(1, len(rows) // 100), f"{crashed} items were given up"
