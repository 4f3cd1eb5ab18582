"""Crash points: every call by which a process acts on something outside it, counted, and one of them deadly.

Calls of PostgreSQL, Redis, sockets, files, the artifact store and programs are counted from `arm` on, in the order in
which the process makes them. At the wanted one the process kills itself with SIGKILL: before the call, after it, or in
the midst of writing an artifact. It is loaded into the process under test, and only there.
"""

import json
import os
import re
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import obstore
import psycopg
from obstore.store import LocalStore
from psycopg.pq import TransactionStatus

BEFORE, DURING, AFTER = "before", "during", "after"
#: What Python tells of before it does it; that it is done, the next call tells.
FILE_EVENTS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Written by Python or gunicorn for themselves.
OWN_FILES = ("/proc/", "/dev/", "__pycache__", "wgunicorn-", "gunicorn")
#: Calls that a waiting process repeats, as often as the machine is slow.
WHILE_WAITING = ("postgres: claim", "postgres: heartbeat", "postgres: SELECT p.name", "redis: BLPOP", "redis: HSET")
MOST_WHILE_WAITING = 2
#: The greetings of a new connection, which change nothing.
GREETINGS = ("redis: HELLO", "redis: CLIENT", "redis: SELECT")
LIFECYCLE = re.compile(r"lifecycle_[0-9a-f]+\.(\w+)")
STEPS = {
    "_commit_gen": "COMMIT",
    "_rollback_gen": "ROLLBACK",
    "_enter_gen": "BEGIN",
    "_exit_gen": "end of pipeline",
    "_exchange": "end of pipeline",  # ours, of pipeline/database/pipelining.py, sends all and reads all
}
SYNC_STORE = ("put", "get", "head", "delete", "list", "list_with_delimiter")
ASYNC_STORE = ("get_async", "head_async")


def is_long() -> bool:
    """Say whether each crash point is wanted, not only a few."""
    return os.environ.get("CRASH_POINTS") == "all"


@dataclass(frozen=True)
class Plan:
    """Where to die: at call `number`, counted from 1, of all or of those named `call`; nowhere if neither is given."""

    number: int = 0
    side: str = BEFORE
    call: str = ""


@dataclass
class Told:
    """A process's report: all calls so far, and the one at which it died."""

    calls: list[str] = field(default_factory=list)
    died_at: str | None = None


class CrashPoints:
    """Counts calls once it is armed."""

    def __init__(self, report: Path) -> None:
        self._report = report
        self._plan: Plan | None = None
        self._calls: list[str] = []
        self._lock = threading.Lock()
        self._last = threading.Lock()
        self._busy = threading.local()

    def arm(self, plan: Plan) -> None:
        """Count from now on."""
        with self.aside():
            self._calls.clear()
            self._plan = plan

    def tell(self, died_at: str | None = None) -> None:
        """Write what was called so far, and count no more. Nothing is written where nothing was counted."""
        if self._plan is None:
            return
        with self.aside():
            incomplete = self._report.with_suffix(".incomplete")
            incomplete.write_text(json.dumps(asdict(Told(self._calls, died_at))))
            incomplete.replace(self._report)  # at once: others read it as soon as it is there
        self._plan = None

    @property
    def count(self) -> int:
        """How many calls there were."""
        return len(self._calls)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Count nothing that this thread does in the block."""
        before = getattr(self._busy, "is_busy", False)
        self._busy.is_busy = True
        try:
            yield
        finally:
            self._busy.is_busy = before

    def before(self, call: str) -> int:
        """Count a call that is about to be made; returns its number, or 0 where none is counted."""
        if self._plan is None or getattr(self._busy, "is_busy", False) or call in GREETINGS:
            return 0
        with self._lock:
            if call.startswith(WHILE_WAITING) and self._calls.count(call) >= MOST_WHILE_WAITING:
                return 0
            self._calls.append(call)
            number = len(self._calls)
        self.at(number, BEFORE)
        return number

    def at(self, number: int, side: str) -> None:
        """Die if this is where to."""
        if self.is_at(number, side):
            with self._last:
                self.tell(died_at=f"{side} {self._calls[number - 1]}")
                os.kill(os.getpid(), signal.SIGKILL)

    def end(self) -> NoReturn:
        """End the process as one that was not struck; a thread that is about to die can't tell otherwise any more."""
        with self._last:
            self.tell()
            sys.stdout.flush()
            os._exit(0)

    def is_at(self, number: int, side: str) -> bool:
        """Say whether this is where to die."""
        plan = self._plan
        if not number or plan is None or plan.side != side:
            return False
        if plan.call:
            made = self._calls[:number]
            return made[-1] == plan.call and made.count(plan.call) == max(1, plan.number)
        return plan.number == number


def install(report: Path) -> CrashPoints:
    """Watch this process's calls from now on; returns what counts them."""
    points = CrashPoints(report)
    _watch_postgres(points)
    _watch_sockets(points)
    _watch_store(points)
    sys.addaudithook(lambda event, arguments: _meet_event(points, event, arguments))
    return points


def sides_of(call: str) -> list[str]:
    """Return where a process may die at a call: what it does to others may be done, or half done."""
    during = [DURING] if call == "store: put" else []
    return [BEFORE, *during, *([AFTER] if call.startswith(("postgres", "store")) else [])]


def _meet_event(points: CrashPoints, event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, str | bytes) and isinstance(flags, int) and flags & WRITING:
            name = os.fsdecode(path)
            if not any(own in name for own in OWN_FILES):
                points.before(f"file: open {Path(name).suffix or 'one without a suffix'}")
    elif event in FILE_EVENTS:
        if not any(own in str(arguments[0]) for own in OWN_FILES):
            points.before(f"file: {event}")
    elif event == "socket.connect":
        points.before("connect: " + ("local" if isinstance(arguments[1], str | bytes) else "socket"))
    elif event == "subprocess.Popen":
        points.before(f"program: {Path(os.fsdecode(arguments[0])).name}")


def _statement(work: Any) -> str:
    """Return what a generator of psycopg is about to do: a function of the life cycle, the begin of a query, or COMMIT.

    Ours commit with the statement, unless they are a transaction or a pipeline (`STEPS`)."""
    frame = getattr(work, "gi_frame", None)
    query = frame.f_locals.get("query") if frame is not None else None
    text = query if isinstance(query, str) else STEPS.get(name := getattr(work, "__name__", "call"), name)
    called = LIFECYCLE.search(text)
    return "postgres: " + (called[1] if called else " ".join(text.split())[:40])


def _is_idle_commit(connection: Any, work: Any) -> bool:
    """Say whether a commit has nothing to commit: a pool's connections are asked for one each time."""
    is_idle: bool = connection.pgconn.transaction_status == TransactionStatus.IDLE
    return is_idle and getattr(work, "__name__", "") == "_commit_gen"


def _watch_postgres(points: CrashPoints) -> None:
    wait, wait_async = psycopg.Connection.wait, psycopg.AsyncConnection.wait

    def watched(self: Any, work: Any, *arguments: Any, **named: Any) -> Any:
        number = 0 if _is_idle_commit(self, work) else points.before(_statement(work))
        result = wait(self, work, *arguments, **named)
        points.at(number, AFTER)
        return result

    async def watched_async(self: Any, work: Any, *arguments: Any, **named: Any) -> Any:
        number = 0 if _is_idle_commit(self, work) else points.before(_statement(work))
        result = await wait_async(self, work, *arguments, **named)
        points.at(number, AFTER)
        return result

    psycopg.Connection.wait = watched
    psycopg.AsyncConnection.wait = watched_async


def _sent(data: Any) -> str:
    begin = bytes(data[0] if isinstance(data, list) and data else data)[:60] if not isinstance(data, tuple) else b""
    if begin.startswith(b"*") and b"\r\n$" in begin:
        words = [word for word in begin.split(b"\r\n") if word[:1].isalpha()]
        return "redis: " + b" ".join(words[:1]).decode("latin-1")
    return "socket: send " + (begin.split(b" ")[0].decode("latin-1") if begin[:1].isupper() else "data")


def _watch_sockets(points: CrashPoints) -> None:
    def watch(name: str) -> None:
        send = getattr(socket.socket, name)

        def watched(self: Any, data: Any, *arguments: Any) -> Any:
            if isinstance(data, bytes | bytearray | memoryview) and bytes(data[:2]) == b"\0":
                return send(self, data, *arguments)  # asyncio wakes its own loop
            number = points.before(_sent(data))
            result = send(self, data, *arguments)
            points.at(number, AFTER)
            return result

        setattr(socket.socket, name, watched)

    for name in ("send", "sendall", "sendmsg", "sendto"):
        watch(name)


def _watch_store(points: CrashPoints) -> None:
    for name in SYNC_STORE:
        setattr(obstore, name, _watched(points, name, getattr(obstore, name)))
    for name in ASYNC_STORE:
        setattr(obstore, name, _watched_async(points, name, getattr(obstore, name)))
    open_writer = obstore.open_writer_async
    obstore.open_writer_async = lambda *given, **named: _Writer(points, open_writer(*given, **named))


def _watched(points: CrashPoints, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def watched(store: Any, *arguments: Any, **named: Any) -> Any:
        number = points.before(f"store: {name}")
        if name == "put" and points.is_at(number, DURING):
            _begin_to_write(store, *arguments)
            points.at(number, DURING)
        result = call(store, *arguments, **named)
        points.at(number, AFTER)
        return result

    return watched


def _begin_to_write(store: LocalStore, key: str, data: Any) -> None:
    """Leave what obstore leaves in a folder when it is killed while it writes: half of it under a passing name."""
    content = data if isinstance(data, bytes) else data.read()
    file = Path(str(store.prefix)) / f"{key}#1"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content[: len(content) // 2])


def _watched_async(points: CrashPoints, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    async def watched(*arguments: Any, **named: Any) -> Any:
        number = points.before(f"store: {name}")
        result = await call(*arguments, **named)
        points.at(number, AFTER)
        return result

    return watched


class _Writer:
    """A writer of obstore, whose writes and end are counted."""

    def __init__(self, points: CrashPoints, writer: Any) -> None:
        self._points = points
        self._writer = writer

    async def __aenter__(self) -> "_Writer":
        await self._writer.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._counted("end writing", self._writer.__aexit__, *error)

    async def write(self, data: bytes) -> Any:
        return await self._counted("write", self._writer.write, data)

    async def _counted(self, name: str, call: Callable[..., Any], *arguments: Any) -> Any:
        number = self._points.before(f"store: {name}")
        result = await call(*arguments)
        self._points.at(number, AFTER)
        return result
