"""Whole systems for tests: `pressroom up` as real processes, with an HTTP client and ways to kill any process."""

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import Message
from functools import cache, cached_property
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from uuid import uuid4

from servers import is_running, start_postgres

from pipeline.accounts.accounts import open_account
from pipeline.database import Database
from pipeline.lifecycle.migrations import migrate
from pipeline.operations import supervision
from pipeline.operations.child_processes import shimmed
from pipeline.registry import load_kinds, queues
from pipeline.settings import Settings
from scripts.system import control
from scripts.system.folders import private_folder
from scripts.system.programs import environment

#: The made-up kind, short leases and short drains: what takes 30 s in earnest takes 3 here.
FAST = {
    "PRESSROOM_KINDS": "made_up:MadeUp",
    "PRESSROOM_WORK__LEASE_SECONDS": "3",
    "PRESSROOM_WORK__HEARTBEAT_SECONDS": "0.3",
    "PRESSROOM_WORK__DRAIN_SECONDS": "3",
    "PRESSROOM_WORK__SWEEP_SECONDS": "0.3",
    "PRESSROOM_LIMITS__ENTERPRISE__PER_MINUTE": "0",
}


@dataclass
class Answer:
    """An HTTP answer, whatever its status."""

    status: int
    headers: Message
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Running:
    """A running system: its supervisor, where it is, and what it has written so far."""

    process: "subprocess.Popen[bytes]"
    data: Path
    log: Path
    mark: str
    credits: int
    address: str = ""

    @property
    def database_url(self) -> str:
        """Where its database is."""
        found = control.find_system(self.data)
        assert found
        return found.database_url

    @property
    def redis_url(self) -> str:
        """Where its Redis is."""
        found = control.find_system(self.data)
        assert found
        return found.redis_url

    @cached_property
    def key(self) -> str:
        """A key of an account of this test's own, made when it is first used."""
        with Database(self.database_url) as database:
            return open_account(database, name="test", tier="enterprise", credits=self.credits).key.secret

    def written(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for_line(self, words: str, *, seconds: float = 120) -> str:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for line in self.written().splitlines():
                if words in line:
                    return line
            assert self.process.poll() is None, self.written()[-5_000:]
            time.sleep(0.02)
        raise AssertionError(f"no line with {words!r}:\n{self.written()[-5_000:]}")

    def wait_for_answer(self, path: str, *, seconds: float = 120) -> control.System:
        """Return where the system is once it answers 200 at the path."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            assert self.process.poll() is None, self.written()[-5_000:]
            found = control.find_system(self.data)
            self.address = found.address if found else ""
            try:
                if found and self._send(path, None, "", method="GET", timeout=5, **{"X-API-Key": "none"}).status == 200:
                    return found
            except (OSError, HTTPException):
                pass
            time.sleep(0.05)
        raise AssertionError(f"{path} did not answer:\n{self.written()[-5_000:]}")

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=120)

    def end(self) -> None:
        """End all processes at once: an orderly stop takes each a second of a core.

        PostgreSQL, which is told to end, gives its shared memory back."""
        self.process.kill()
        self.process.wait()
        while left := self.processes():
            for pid in left:
                with suppress(OSError):
                    program = Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0]
                    kill(pid, signal.SIGQUIT if b"postgres" in program else signal.SIGKILL)
            time.sleep(0.02)

    def processes(self) -> list[int]:
        """Return every process that belongs to this system."""
        return marked(self.mark)

    def pids(self, program: str) -> list[int]:
        """Return the processes that the supervisor started for a program."""
        return next(pool.pids for pool in supervision.pools(self.data) if pool.name == program)

    def connect(self, *, timeout: float = 60) -> socket.socket:
        """Return a connection to the API, for what no HTTP client would send."""
        return socket.create_connection(("127.0.0.1", int(self.address.rpartition(":")[2])), timeout=timeout)

    def ask(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        method: str | None = None,
        timeout: float = 60,
        **headers: str,
    ) -> Answer:
        """Send a request with this system's key; header names are written with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        content = None if body is None else json.dumps(body).encode()
        return self._send(path, content, "application/json", method=method, timeout=timeout, **named)

    def post_bytes(self, path: str, content: bytes, content_type: str) -> Answer:
        """Send bytes as they are."""
        return self._send(path, content, content_type, method="POST", timeout=60)

    def _send(
        self, path: str, content: bytes | None, content_type: str, *, method: str | None, timeout: float, **headers: str
    ) -> Answer:
        sent = dict(headers)
        if "X-API-Key" not in headers:
            sent["X-API-Key"] = self.key
        if content is not None:
            sent["Content-Type"] = content_type
        request = Request(self.address + path, content, sent, method=method)  # our own address
        try:
            with urlopen(request, timeout=timeout) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except HTTPError as error:
            with error:
                return Answer(error.code, error.headers, error.read())

    def submit(self, body: Mapping[str, Any], path: str = "/made-up", **headers: str) -> str:
        """Submit a job and return its id; the same request is sent again until it is answered."""
        sent = {"Prefer": "respond-async", "Idempotency_Key": uuid4().hex, **headers}
        until = time.monotonic() + 120
        while True:
            try:
                answer = self.ask(path, body, timeout=10, **sent)
            except (OSError, HTTPException):
                answer = None
            if answer is not None and answer.status < 500:
                assert answer.status == 202, answer.body
                return str(answer.json["id"])
            assert time.monotonic() < until, answer
            time.sleep(0.1)

    def wait_for_state(self, job_id: str, *states: str, seconds: float = 120) -> Any:
        """Return the job's document once it is in one of the states; by default, once it has ended."""
        wanted = states or ("succeeded", "partial", "failed", "cancelled", "expired")
        until, pause = time.monotonic() + seconds, 0.02
        while True:
            try:
                found = self.ask(f"/jobs/{job_id}").json
            except (OSError, HTTPException):
                found = {}
            if found.get("state") in wanted:
                return found
            assert time.monotonic() < until, f"{found}\n{self.written()[-5_000:]}"
            time.sleep(pause := min(1.2 * pause, 0.1))  # each look takes milliseconds of a core that works on the job


def name_of(pid: int) -> str:
    """Return the name that a process goes by, such as synthesis.1."""
    return Path(f"/proc/{pid}/comm").read_text().strip()


def marked(word: str) -> list[int]:
    """Return the processes that have a word in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and word.encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if is_running(pid)]


def children(pid: int) -> list[int]:
    """Return the processes that a process started."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(child) for child in listed.stdout.split()]


def command(*arguments: str) -> list[str]:
    """Return the command that runs `pressroom` with this interpreter."""
    return [sys.executable, "-P", "-m", "scripts.main", *arguments]


def run_command(*arguments: str, text: str | None = None, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of `pressroom` to its end; `text` is its standard input, the rest environment variables."""
    environment = clean_environment(extra=variables)
    return subprocess.run(command(*arguments), input=text, env=environment, capture_output=True, text=True, check=False)


def clean_environment(mark: str = "", extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment that names no servers, with a mark that all processes of a system carry."""
    found = environment(extra={"PRESSROOM_TEST_MARK": mark, "PRESSROOM_WORK__DRAIN_SECONDS": "3"})
    found["PYTHONPATH"] = os.pathsep.join((found.get("PYTHONPATH", ""), str(Path(__file__).parent)))
    kept = {name: value for name, value in found.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    return kept | dict(extra or {})


def only(*pools: str) -> list[str]:
    """Return arguments of `system` that leave the other pools empty: each process takes time to start."""
    others = [queue for queue in queues(load_kinds(Settings())) if queue not in pools]
    return [argument for queue in others for argument in ("--pool", f"{queue}=0")]


@cache
def migrated_cluster() -> Path:
    """Return the folder of a PostgreSQL that is off, migrated, and does not wait for the disk."""
    folder = Path(tempfile.mkdtemp(prefix="pressroom-cluster-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with start_postgres(folder) as url:
        migrate(url)
    return folder / "postgres"


@contextmanager
def system(
    data: Path,
    *arguments: str,
    extra: Mapping[str, str] | None = None,
    credits: int = 1_000_000,
    answers: str = "/readyz",
    as_shipped: bool = False,
) -> Iterator[Running]:
    """Run `pressroom up` on a free port; it is ready when the block is entered, and nothing is left after it.

    Unless `as_shipped`, it starts in half the time: one API process, and a database that is migrated already and does
    not wait for the disk."""
    data.parent.mkdir(parents=True, exist_ok=True)
    if not as_shipped:
        extra = {"PRESSROOM_API__PROCESSES": "1", **(extra or {})}
        if not (data.exists() or "DATABASE_URL" in extra):
            subprocess.run(["cp", "-a", str(migrated_cluster()), str(private_folder(data) / "postgres")], check=True)
    log = data.parent / f"{data.name}-{uuid4().hex[:6]}.log"
    mark = uuid4().hex
    with log.open("wb") as output:
        process = subprocess.Popen(
            # It ends with this process, however that ends.
            shimmed(command("up", "--port", "0", "--data", str(data), *arguments)),
            env=clean_environment(mark, extra),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    running = Running(process, data, log, mark, credits)
    try:
        if answers == "/readyz":
            running.wait_for_line("ready on http")
        running.wait_for_answer(answers)
        yield running
    finally:
        running.end()


def kill(pid: int, sent: signal.Signals = signal.SIGKILL) -> bool:
    """Signal a process of a system under test; false when it was gone already."""
    try:
        os.kill(pid, sent)
    except ProcessLookupError:
        return False
    return True
