"""Running: a peer's processes on the servers of a Pressroom, and ways to pause and to kill them."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psycopg
import redis

from benchmarks.environments import python_with
from benchmarks.peers.catalogue import PROGRAMS, Peer
from benchmarks.systems import Running, free_port, process_tree, wait_for_address
from scripts.system.embedded.roles import OWNER, ROLE

STOP_SECONDS = 10


@dataclass
class Servers:
    """The PostgreSQL and the Redis of a running Pressroom; every peer gets an empty database of its own."""

    running: Running
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))  # Pressroom has Redis's database 0

    def fresh(self) -> dict[str, str]:
        """Return the environment that names a database of each."""
        number = next(self._numbers)
        database_url, redis_url = self.running.database_url, f"{self.running.redis_url}?db={number}"
        with psycopg.connect(database_url, user=OWNER, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE peer_{number} OWNER {ROLE}")  # type: ignore[arg-type]
        url = database_url.replace("/pressroom?", f"/peer_{number}?")
        return {"DATABASE_URL": url, "PGDSN": url, "REDIS_URL": redis_url}


@dataclass
class RunningPeer:
    """A peer that runs: its API, and its worker once it is started."""

    peer: Peer
    python: Path
    environment: Mapping[str, str]
    log: Path
    port: int = field(default_factory=free_port)
    api: "subprocess.Popen[bytes] | None" = None
    worker: "subprocess.Popen[bytes] | None" = None

    @property
    def address(self) -> str:
        """Where its API is."""
        return f"http://127.0.0.1:{self.port}"

    def start_api(self) -> None:
        """Make its tables and start its API; return once it answers."""
        for command in self.peer.setup:
            done = subprocess.run(
                self._argv(command), cwd=PROGRAMS, env=self.environment, capture_output=True, check=False
            )
            assert done.returncode == 0, done.stderr.decode()[-2_000:]
        is_wsgi = "gunicorn" in self.peer.front
        where = (f"127.0.0.1:{self.port}",) if is_wsgi else (str(self.port),)
        self.api = self._start((*self.peer.front, *where, f"{self.peer.module}:app"))
        wait_for_address(self.address)

    def start_worker(self) -> None:
        """Start its worker, which takes a moment until it works."""
        self.worker = self._start(self.peer.worker)

    def kill_worker(self) -> None:
        """Kill its worker with all that it started, as a machine that fails does."""
        assert self.worker is not None
        kill_tree(self.worker.pid)
        self.worker.wait()

    def empty_queue(self) -> None:
        """Drop what was submitted and nobody will work off."""
        with redis.Redis.from_url(self.environment["REDIS_URL"]) as client:
            client.flushdb()
        with psycopg.connect(self.environment["DATABASE_URL"], autocommit=True) as connection:
            for table in ("procrastinate_jobs", "pgqueuer", "result"):
                if connection.execute("SELECT to_regclass(%s)", [table]).fetchone() != (None,):
                    connection.execute(f"TRUNCATE {table} CASCADE")  # type: ignore[arg-type]

    def pause(self) -> None:
        """Stop all its processes where they are."""
        _send(self._pids(), signal.SIGSTOP)

    def resume(self) -> None:
        """Let them go on."""
        _send(self._pids(), signal.SIGCONT)

    def stop(self) -> None:
        """End all its processes."""
        pids = self._pids()
        _send(pids, signal.SIGCONT)
        started = [process for process in (self.worker, self.api) if process is not None]
        for process in started:
            process.send_signal(signal.SIGTERM)
        try:
            for process in started:
                process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        _send(pids, signal.SIGKILL)
        for process in started:
            process.wait()

    def _pids(self) -> list[int]:
        started = [process for process in (self.api, self.worker) if process is not None and process.poll() is None]
        return [pid for process in started for pid in process_tree(process.pid)]

    def _start(self, command: Sequence[str]) -> "subprocess.Popen[bytes]":
        with self.log.open("ab") as output:
            return subprocess.Popen(
                self._argv(command),
                cwd=PROGRAMS,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def _argv(self, command: Sequence[str]) -> tuple[str, ...]:
        return (str(self.python), *command)


@contextmanager
def running_peer(peer: Peer, servers: Servers, folder: Path, **extra: str) -> Iterator[RunningPeer]:
    """Run a peer's API, and its worker once that is asked for."""
    python = python_with(peer.requirements)
    name = "-".join((peer.name, *extra.values()))
    environment = {
        "PATH": os.pathsep.join((str(python.parent), os.environ["PATH"])),
        "PYTHONPATH": str(PROGRAMS),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(folder),
        "EFFECTS": str(folder / f"{name}.effects"),
        **servers.fresh(),
        **peer.environment,
        **extra,
    }
    found = RunningPeer(peer, python, environment, folder / f"{name}.log")
    try:
        found.start_api()
        yield found
    finally:
        found.stop()


def kill_tree(pid: int) -> None:
    """Kill a process with all that it started; itself first, so that it starts nothing in their place."""
    _send(process_tree(pid), signal.SIGKILL)


def _send(pids: Sequence[int], sent: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, sent)
        except ProcessLookupError:
            continue
