"""Processes: the programs on all machines, and their memory. Each reports itself in one Redis hash."""

import json
import os
import resource
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import redis
from redis.exceptions import RedisError

from pipeline import job_log
from pipeline.identifiers import machine
from pipeline.lifecycle.schema import SCHEMA
from pipeline.log import get_logger
from pipeline.operations.supervision import is_supervised
from pipeline.settings import Settings

#: The Redis hash with one field a process.
HASH = "pressroom:processes"
#: Interval of reports.
TELL_EVERY = timedelta(seconds=10)
#: A process that has not reported for so long has ended. Clocks of machines may differ by less.
GONE_AFTER = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Process:
    """A process that runs. `program` is api, sweep, or the queue that it serves."""

    host: str
    pid: int
    program: str
    memory_bytes: int
    #: True if `memory_bytes` is what it takes now; otherwise it is the most that it ever took.
    is_current: bool
    supervised: bool
    started_at: datetime
    told_at: datetime
    #: The schema of the life cycle's functions that it calls; None: it does not tell.
    schema: str | None = None
    #: Models that it downloads: name, bytes done, bytes in all.
    downloads: list[tuple[str, int, int]] = field(default_factory=list)
    #: Bytes that the disk of its data can still take; None: it does not tell.
    free_bytes: int | None = None

    @property
    def is_gone(self) -> bool:
        """True if it was not heard of for so long that it must have ended."""
        return datetime.now(UTC) - self.told_at > GONE_AFTER


#: This process's downloads: bytes done and in all, by model.
downloads: dict[str, tuple[int, int]] = {}


def memory_bytes() -> tuple[int, bool]:
    """Return this process's memory in RAM, and whether that is current; off Linux it is the peak."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE"), True
    except (OSError, ValueError, IndexError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most * (1 if sys.platform == "darwin" else 1024), False


def read_processes(fields: Mapping[Any, Any]) -> list[Process]:
    """Return the processes of the hash that are not gone, by program and host."""
    found = (_process(json.loads(value)) for value in fields.values())
    return sorted((one for one in found if not one.is_gone), key=lambda one: (one.program, one.host, one.pid))


def gone_fields(fields: Mapping[Any, Any]) -> list[Any]:
    """Return the fields of processes that are gone."""
    return [name for name, value in fields.items() if _process(json.loads(value)).is_gone]


def _process(told: dict[str, Any]) -> Process:
    for moment in ("started_at", "told_at"):
        told[moment] = datetime.fromtimestamp(told[moment], UTC)
    told["downloads"] = [(str(name), int(done), int(total)) for name, done, total in told["downloads"]]
    return Process(**{name: value for name, value in told.items() if name in FIELDS})


#: Fields read of a process; a later version may report more.
FIELDS = frozenset(one.name for one in fields(Process))


log = get_logger(__name__)

#: How often lines are sent.
SEND_EVERY_SECONDS = 1.0
#: Before the name of a machine: a key that a process of it set lately.
SIGN = "pressroom:alive:"
#: The part of a lease, after a heartbeat, for which it stays.
SIGN_LASTS = 0.8


def is_alive(client: "redis.Redis", name: str) -> bool:
    """Return whether a process of a machine was heard of lately. Raises RedisError."""
    return bool(client.exists(SIGN + name))


class ProcessReporter:
    """Reports this process to Redis, and that its machine is alive. A report that can't be sent is dropped."""

    def __init__(self, program: Callable[[], str], settings: Settings) -> None:
        self._program = program
        self._data = settings.data.absolute()
        self._started = datetime.now(UTC)
        self.field = f"{socket.gethostname()}:{os.getpid()}"
        work = settings.work
        self._told = -TELL_EVERY.total_seconds()
        # A lost machine's sign ends before its leases, the youngest of which a heartbeat renewed.
        self._alive_seconds = SIGN_LASTS * (work.lease_seconds - work.heartbeat_seconds)
        self._signed = -self._alive_seconds

    def fill(self, pipe: Any) -> bool:
        """Add due reports to a Redis pipeline, sync or async; return whether there were any."""
        added = bool(job_log.add_pending(pipe))
        if time.monotonic() - self._signed > self._alive_seconds / 4:
            self._signed = time.monotonic()
            pipe.set(SIGN + machine(), b"", px=round(self._alive_seconds * 1_000))
            added = True
        if time.monotonic() - self._told < TELL_EVERY.total_seconds():
            return added
        self._told = time.monotonic()
        pipe.hset(HASH, self.field, self.tell())
        return True

    async def send_async(self, client: Any) -> None:
        """Send due reports. Raises RedisError."""
        pipe = client.pipeline(transaction=False)
        if self.fill(pipe):
            await pipe.execute()

    async def end_async(self, client: Any) -> None:
        """Say that this process ends. Raises RedisError."""
        await client.hdel(HASH, self.field)

    def start(self, client: "redis.Redis") -> Callable[[], None]:
        """Send from a thread; return the function that reports the process's end."""
        ended = threading.Event()

        def tell() -> None:
            while not ended.wait(SEND_EVERY_SECONDS):
                self._send(client)

        def end() -> None:
            ended.set()
            thread.join(timeout=SEND_EVERY_SECONDS)  # or what it sends now would come after the end
            self._send(client)
            try:
                client.hdel(HASH, self.field)
            except RedisError as error:
                log.debug("end not told", error=str(error))

        thread = threading.Thread(target=tell, name="telling", daemon=True)
        thread.start()
        return end

    def _send(self, client: "redis.Redis") -> None:
        pipe = client.pipeline(transaction=False)
        try:
            if self.fill(pipe):
                pipe.execute()
        except RedisError as error:
            log.debug("not told", error=str(error))

    def tell(self) -> str:
        """Return the report of this process for its `field`."""
        memory, is_current = memory_bytes()
        told = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "program": self._program(),
            "memory_bytes": memory,
            "is_current": is_current,
            "supervised": is_supervised(),
            "started_at": self._started.timestamp(),
            "told_at": time.time(),
            "schema": SCHEMA,
            "free_bytes": self._free_bytes(),
            "downloads": [(name, *bytes_) for name, bytes_ in list(downloads.items())],
        }
        return json.dumps(told)

    def _free_bytes(self) -> int | None:
        try:
            return shutil.disk_usage(next(one for one in (self._data, *self._data.parents) if one.exists())).free
        except OSError:
            return None
