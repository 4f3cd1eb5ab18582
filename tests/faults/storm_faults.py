"""The faults of a storm: each strikes a site for some seconds, mends what it has hurt, and returns how often."""

import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import psycopg
import redis
from mixed_load import PATIENCE_SECONDS, MixedLoad
from storm_site import Site
from systems import children, kill
from tcp_proxy import Fault, TcpProxy

from pipeline.database import Database, Row, Statement
from pipeline.errors import PressroomError
from pipeline.operations import supervision

#: Longer than the lease, so that a frozen worker wakes as a zombie.
FROZEN_SECONDS = 4.0
#: How often connections are cut: twice a second.
CUT_EVERY_SECONDS = 0.5
#: How far a clock is stepped, in seconds: past every lease. What was put off before a step back comes later by as much.
STEPS = (10, -10, 0)
STEP_TOLERANCE_SECONDS = 3.0
#: Workers are killed while each client's last answer is no older than this.
LATELY_SECONDS = 20.0
#: Items that would be given up at one more crash.
UNLUCKY: Statement[list[Row]] = Statement(
    "SELECT id FROM item WHERE crashes >= 2 AND state IN ('waiting', 'ready', 'leased')"
)


@dataclass(frozen=True)
class Scenario:
    """A fault, and what the machine must permit for it: a sentence where it does not."""

    name: str
    strike: Callable[[Site, float], int]
    lacks: Callable[[Site], str] = lambda site: ""


def until(seconds: float) -> Iterator[float]:
    """Yield the seconds that are left, at least once."""
    end = time.monotonic() + seconds
    yield seconds
    while (left := end - time.monotonic()) > 0:
        yield left


def wait_for_the_unlucky(database: Database) -> None:
    """Wait until no item would be given up at one more crash.

    On a slow machine, a lone worker could be hit three times in a row with the same item."""
    end = time.monotonic() + 120
    while True:
        with suppress(PressroomError):  # the database is just starting again
            if not database.run(UNLUCKY):
                return
        assert time.monotonic() < end, "no worker takes what has crashed twice"
        time.sleep(0.05)


def wait_for_answers(load: MixedLoad) -> None:
    """Wait until each client has had an answer of late: a pool of one process can be killed faster than it starts."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not all(answers := load.answers(LATELY_SECONDS)):
        load.check()
        assert time.monotonic() < end, f"not each client gets an answer, though nothing is killed: {answers}"
        time.sleep(0.05)


class Killer:
    """Kills processes of pools, one at a time."""

    def __init__(self, site: Site, seed: int) -> None:
        self._site = site
        self._choose = random.Random(seed)

    def strike(self, seconds: float, *, kills: int | None = None) -> int:
        """Kill for so many seconds, or so many, whichever comes first."""
        done = 0
        with self._site.database() as database:
            for _ in until(seconds):
                wait_for_the_unlucky(database)
                wait_for_answers(self._site.load)
                done += self._kill_one()
                if kills is not None and done >= kills:
                    break
                time.sleep(self._choose.uniform(0.05, 0.4))
        return done

    def _kill_one(self) -> bool:
        pools = [pool for pool in supervision.pools(self._site.running.data) if pool.scalable and pool.pids]
        if not pools:
            return False
        pool = self._choose.choice(pools)
        return kill(self._choose.choice(pool.pids))


def kill_workers(site: Site, seconds: float) -> int:
    return Killer(site, seed=1).strike(seconds)


def kill_many(site: Site, minutes: float, kills: int) -> int:
    """Kill workers for so many minutes, or so many of them, whichever comes first."""
    return Killer(site, seed=2).strike(minutes * 60, kills=kills)


def kill_program(name: str, site: Site, seconds: float) -> int:
    """Kill a program each second."""
    done = 0
    for _ in until(seconds):
        done += sum(kill(pid) for pid in site.running.pids(name))
        time.sleep(1.0)
    return done


def freeze_workers(site: Site, seconds: float) -> int:
    """Freeze one worker of each pool past its lease; each wakes as a zombie."""
    done = 0
    with site.database() as database:
        for _ in until(seconds):
            wait_for_the_unlucky(database)
            pools = [pool.name for pool in supervision.pools(site.running.data) if pool.scalable]
            frozen = [pid for name in pools for pid in site.running.pids(name)[:1] if kill(pid, signal.SIGSTOP)]
            time.sleep(FROZEN_SECONDS)
            for pid in frozen:
                kill(pid, signal.SIGCONT)
            done += len(frozen)
            time.sleep(0.5)
    return done


def kill_redis(site: Site, seconds: float) -> int:
    done = 0
    for left in until(seconds):
        site.redis.kill()
        done += 1
        time.sleep(min(left, 2.0))
        site.redis.start()
        time.sleep(0.5)
    return done


def flush_redis(site: Site, seconds: float) -> int:
    done = 0
    with site.client() as client:
        for _ in until(seconds):
            client.flushall()
            done += 1
            time.sleep(0.1)
    return done


def fill_redis(site: Site, seconds: float) -> int:
    with site.client() as client:
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", 1)
        try:
            time.sleep(seconds)
            with suppress(redis.exceptions.OutOfMemoryError):
                client.set("storm", 1)
                raise AssertionError("Redis is not full")
        finally:
            client.config_set("maxmemory", 0)
    return 1


def freeze_redis(site: Site, seconds: float) -> int:
    kill(site.redis.pid, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        kill(site.redis.pid, signal.SIGCONT)
    return 1


def restart_postgres(site: Site, seconds: float) -> int:
    """Restart it immediately: no checkpoint, every connection cut, recovery at the next start."""
    done = 0
    for left in until(seconds):
        site.postgres.kill(signal.SIGQUIT)
        done += 1
        time.sleep(min(left, 1.0))
        site.postgres.start()
        time.sleep(min(left, 2.0))
    return done


def freeze_postgres(site: Site, seconds: float) -> int:
    """Stop its processes, all of them: it answers nothing, and its connections stay."""
    pids = [site.postgres.pid, *children(site.postgres.pid)]
    for pid in pids:
        kill(pid, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        for pid in pids:
            kill(pid, signal.SIGCONT)
    return 1


def cut_connections(site: Site, seconds: float) -> int:
    done = 0
    with psycopg.connect(site.database_url, autocommit=True) as connection:
        for _ in until(seconds):
            cut = connection.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).fetchone()
            done += cut[0] if cut else 0
            time.sleep(CUT_EVERY_SECONDS)
    return done


def take_all_connections(site: Site, seconds: float) -> int:
    """Take every connection that the server has, and those that come free while the others are cut."""
    taken: list[psycopg.Connection] = []
    try:
        for _ in until(seconds):
            with suppress(psycopg.OperationalError):
                while True:
                    taken.append(psycopg.connect(site.database_url, autocommit=True, connect_timeout=5))
            # Those that the system has already are cut as well: it gets no other ones.
            with suppress(psycopg.OperationalError):
                taken[0].execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend'"
                    " AND application_name <> 'storm' AND pid <> ALL(%s)",
                    [[one.info.backend_pid for one in taken]],
                )
            time.sleep(0.05)
    finally:
        for one in taken:
            one.close()
    return len(taken)


def fill_database_disk(site: Site, seconds: float) -> int:
    done = 0
    for left in until(seconds):
        done += site.database_disk.fill()
        time.sleep(min(left, 5.0))
        if site.postgres.has_ended():
            break
    site.database_disk.empty()
    if site.postgres.has_ended():  # it can't write its log: it ends, and recovers when there is space
        site.postgres.start()
    return done


def fill_artifact_disk(site: Site, seconds: float) -> int:
    done = 0
    for left in until(seconds):
        done += site.artifact_disk.fill()
        time.sleep(min(left, 1.0))
    site.artifact_disk.empty()
    return done


def step_clock(site: Site, seconds: float) -> int:
    """Step the clock of the servers and of every process forward, back past where it was, and home."""
    for step in STEPS:
        site.clock.step(step)
        time.sleep(seconds / len(STEPS))
        with site.database() as database:
            (row,) = database.run(Statement("SELECT extract(epoch FROM clock_timestamp())::float8 AS at"))
        assert abs(row["at"] - time.time() - step) < STEP_TOLERANCE_SECONDS, f"PostgreSQL took no step of {step} s"
    return len(STEPS)


def hurt_by_proxy(fault: Fault, which: Callable[[Site], TcpProxy], site: Site, seconds: float) -> int:
    proxy = which(site)
    before = proxy.hurt
    proxy.begin(fault)
    try:
        time.sleep(seconds)
    finally:
        proxy.mend()
    return proxy.hurt - before


def _needs_disk(site: Site) -> str:
    own = site.database_disk.is_own and site.artifact_disk.is_own
    return "" if own else "this user may not mount a file system"


def _needs_clock(site: Site) -> str:
    return "" if site.clock.can_step else "there is no C compiler for the clock's library"


#: Faults of the way to a server.
PROXY_FAULTS: tuple[tuple[Fault, str], ...] = (
    ("latency", "answers late"),
    ("reset", "resets connections"),
    ("half-open", "leaves connections half-open"),
    ("slow", "is read slowly"),
    ("swallow", "swallows everything"),
)
PROXIES: tuple[tuple[str, Callable[[Site], TcpProxy]], ...] = (
    ("Redis", lambda site: site.redis_proxy),
    ("PostgreSQL", lambda site: site.database_proxy),
    ("the API", lambda site: site.api_proxy),
)

SCENARIOS = (
    Scenario("workers killed", kill_workers),
    Scenario("workers frozen past their lease", freeze_workers),
    Scenario("API killed each second", partial(kill_program, "api")),
    Scenario("sweep killed each second", partial(kill_program, "sweep")),
    Scenario("Redis killed", kill_redis),
    Scenario("Redis flushed", flush_redis),
    Scenario("Redis full", fill_redis),
    Scenario("Redis never answers", freeze_redis),
    Scenario("PostgreSQL restarted (immediate)", restart_postgres),
    Scenario("PostgreSQL frozen", freeze_postgres),
    Scenario("PostgreSQL's connections cut twice a second", cut_connections),
    Scenario("PostgreSQL's connections all taken", take_all_connections),
    Scenario("disk full: database", fill_database_disk, _needs_disk),
    Scenario("disk full: artifacts", fill_artifact_disk, _needs_disk),
    Scenario("clock stepped by 10 s, both ways", step_clock, _needs_clock),
    *(
        Scenario(f"the way to {server} {says}", partial(hurt_by_proxy, fault, proxy))
        for server, proxy in PROXIES
        for fault, says in PROXY_FAULTS
    ),
)
