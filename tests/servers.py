"""Servers for tests: the embedded PostgreSQL and Redis, started by the same launchers as `pressroom up`."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import redis
from waiting import wait_for

from pipeline.database import Statement
from pipeline.operations.child_processes import shimmed
from scripts.system.embedded import postgres
from scripts.system.embedded import redis as embedded_redis
from scripts.system.embedded.postgres import create_database
from scripts.system.embedded.roles import OWNER
from scripts.system.programs import Server, environment

#: Who waits for a lock of ours; others may wait for each other, as the server's own housekeeping does. Unlike
#: pg_stat_activity, pg_locks shows a transaction also those who came after its first look.
WAITS_FOR_US = "SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
#: A first start takes half a second on an idle machine.
PATIENCE_SECONDS = 60
#: Tests outlive no loss of power, so PostgreSQL need not wait for the disk.
NO_SYNC = ("fsync", "synchronous_commit", "full_page_writes")


@contextmanager
def start_postgres(folder: Path, *, is_durable: bool = False) -> Iterator[str]:
    """Run a PostgreSQL with its data in `folder`; yield its URL."""
    server = postgres.server(folder)
    with running(server, folder, lambda: create_database(server.url)):
        if not is_durable:
            with psycopg.connect(server.url, user=OWNER, autocommit=True) as connection:
                for setting in NO_SYNC:
                    connection.execute(f"ALTER SYSTEM SET {setting} = off")
                connection.execute("SELECT pg_reload_conf()")
        yield server.url


@contextmanager
def start_redis(folder: Path) -> Iterator[str]:
    """Run a Redis with its data in `folder`; yield its URL."""
    server = embedded_redis.server(folder)
    with running(server, folder, lambda: ping(server.url)):
        yield server.url


@contextmanager
def running(server: Server, folder: Path, probe: Callable[[], None]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block ends; the block is entered once `probe` no longer raises."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{server.name}.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            shimmed(server.argv, sent=server.stopped_by),
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        try:
            wait_until(probe, process, log)
            yield process
        finally:
            stop(process, server.stopped_by)


def wait_until(probe: Callable[[], None], process: subprocess.Popen[bytes], log: Path) -> None:
    """Call `probe` until it no longer raises a server's error."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return probe()
        except (psycopg.OperationalError, redis.ConnectionError, redis.BusyLoadingError):
            if process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"The server did not start:\n{log.read_text()}") from None
            time.sleep(0.02)


def ping(url: str) -> None:
    """Raise unless a Redis answers."""
    with redis.Redis.from_url(url) as client:
        client.ping()


def stop(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    """Stop a server and all that it started."""
    process.send_signal(how)
    try:
        process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for_end(pid: int, *, seconds: float = 60) -> None:
    """Return once a process has ended; init may leave its entry as a zombie for a while."""
    wait_for(lambda: not is_running(pid), seconds=seconds, about=lambda: f"process {pid} still runs")


def is_running(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2]
    except OSError:
        return False
    return not state.startswith("Z")


def pages_of(connection: psycopg.Connection[Any], statement: Statement[Any]) -> int:
    """Return how many pages a statement touches."""
    sql = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT json) {statement.sql}"
    (plan,) = connection.execute(sql, statement.parameters).fetchone()["QUERY PLAN"]
    pages: int = plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
    return pages
