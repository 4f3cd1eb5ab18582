"""Systems under measurement: a whole Pressroom, and the raw path on the same servers."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import psycopg

from benchmarks.raw.names import TABLE
from pipeline import lifecycle
from pipeline.database import Database
from scripts.system import control
from scripts.system.programs import ROOT, environment, module

sys.path.insert(0, str(ROOT / "tests"))

from servers import start_postgres as start_postgres
from systems import Running, system
from systems import only as only

#: As it comes, but for numbers that would end a measurement: the code behind each limit still runs.
RAISED = {"PRESSROOM_LIMITS__ENTERPRISE__PER_MINUTE": "1000000", "PRESSROOM_LIMITS__OPEN_ITEMS": "10000000"}
MADE_UP = {"PRESSROOM_KINDS": "made_up:MadeUp"}
PATIENCE_SECONDS = 30


@contextmanager
def pressroom(*arguments: str, **settings: str) -> Iterator[Running]:
    """Run a whole system in a temporary folder, with an enterprise account that can pay for everything."""
    with TemporaryDirectory(prefix="pressroom-benchmark-") as folder:
        data = Path(folder) / "data"
        with system(
            data, *arguments, extra=MADE_UP | RAISED | settings, credits=1_000_000_000, as_shipped=True
        ) as running:
            yield running


@dataclass
class Raw:
    """A raw path that runs: where its API is, and the groups of its processes, workers last."""

    address: str
    groups: list[int]

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Stop its workers, which poll, while something else is measured."""
        for group in self.groups[1:]:
            os.killpg(group, signal.SIGSTOP)
        try:
            yield
        finally:
            for group in self.groups[1:]:
                os.killpg(group, signal.SIGCONT)


@contextmanager
def raw_path(running: Running, *, processes: int = 0, threads: int = 8, timeout_ms: int = 5) -> Iterator[Raw]:
    """Run the raw API, and some stock Dramatiq workers, on the servers of a system.

    `timeout_ms` is dramatiq_worker_timeout: 1,000 by default, which adds 300 ms to an idle queue; 5 costs a tenth of a
    core for each idle process and answers in a few ms."""
    found = control.find_system(running.data)
    assert found is not None
    with psycopg.connect(found.database_url, autocommit=True) as connection:
        connection.execute(TABLE)
    servers = {"DATABASE_URL": found.database_url, "REDIS_URL": found.redis_url}
    port = free_port()
    gunicorn = module(
        "gunicorn",
        "benchmarks.raw.api:app",
        "--worker-class=asgi",
        "--workers=2",
        f"--bind=127.0.0.1:{port}",
        "--no-control-socket",
        f"--chdir={ROOT}",
    )
    worker = module("dramatiq", "benchmarks.raw.worker", "--processes=1", f"--threads={threads}", f"--path={ROOT}")
    extra = servers | {"dramatiq_worker_timeout": str(timeout_ms)}
    started = [_start(gunicorn, extra, running.log.with_suffix(".raw"))]
    started += [_start(worker, extra, running.log.with_suffix(".raw")) for _ in range(processes)]
    try:
        raw = Raw(f"http://127.0.0.1:{port}", [process.pid for process in started])
        wait_for_address(raw.address)
        yield raw
    finally:
        for process in started:
            process.send_signal(signal.SIGTERM)
        for process in started:
            process.wait(timeout=PATIENCE_SECONDS)


def wait_for_pool(running: Running, queue: str, processes: int) -> None:
    """Return once a pool has exactly so many processes."""
    until = time.monotonic() + PATIENCE_SECONDS
    while len(running.pids(queue)) != processes:
        assert time.monotonic() < until, f"{queue} has {running.pids(queue)}"
        time.sleep(0.02)


def finish_everything(running: Running) -> None:
    """Work off what is open, outside of any measurement, without workers."""
    with Database(running.database_url) as database:
        while claimed := database.run(lifecycle.claim({"made_up": 500}, lease_for=timedelta(minutes=5))):
            outcomes = [lifecycle.Outcome(item.item_id, "done", item.price, output={}) for item in claimed]
            database.run(lifecycle.report(claimed[0].lease_id, outcomes))


def _start(argv: tuple[str, ...], extra: Mapping[str, str], log: Path) -> "subprocess.Popen[bytes]":
    with log.open("ab") as output:
        return subprocess.Popen(
            argv,
            env=environment(extra=extra),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def free_port() -> int:
    """Return a port that nobody has at this moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def wait_for_address(address: str) -> None:
    """Return once an HTTP server answers there, whatever its status."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with urlopen(f"{address}/", timeout=1):
                return
        except OSError as error:
            if getattr(error, "code", None) == 404:
                return
            assert time.monotonic() < until, f"{address} does not answer"
            time.sleep(0.05)


def process_tree(pid: int) -> list[int]:
    """Return a process and all that it started, directly or not."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [pid]
    for parent in found:
        found += parents.get(parent, [])
    return found


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used, all its threads together."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9
