"""A pinned transaction: an hour in which VACUUM can remove no dead row, ours beside the queues in PostgreSQL.

`MINUTES=60 python -m benchmarks pinned`. Each minute has a slice for each system, so that what else the machine does
falls on all; two minutes without the transaction come first, and two follow. Slices are noted in out/pinned.jsonl,
from which the plot of docs/growth.md is drawn (`python -m benchmarks.pinned`: once more).
"""

import json
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from benchmarks.client import load, request
from benchmarks.growth.table import PlainTable
from benchmarks.lines import Line, Panel, draw
from benchmarks.peers.catalogue import OBAN, PEERS
from benchmarks.peers.findings import OURS
from benchmarks.peers.running import Servers, running_peer
from benchmarks.peers.speed import AFTER_REST, WARM_UP
from benchmarks.systems import only, pressroom, processor_seconds
from scripts.system.programs import ROOT

BEFORE, PINNED, AFTER = "before", "pinned", "after"
#: Minutes before and after the transaction.
CALM, RECOVERY = 2, 2
SLICE_SECONDS = 15
#: A steady flow, well below what the slowest can do, and then as many jobs as fast as they go.
STEADY = {"connections": 16, "rate": 50, "seconds": 9}
BURST = {"connections": 32, "count": 500, "seconds": 3}
FOUND = ROOT / "out" / "pinned.jsonl"
PLOT = ROOT / "docs" / "pictures" / "growth-pinned.svg"
TABLES = (
    "SELECT coalesce(sum(n_dead_tup), 0)::bigint, sum(pg_total_relation_size(relid))::bigint FROM pg_stat_user_tables"
)
SESSIONS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"


@dataclass(frozen=True)
class Queue:
    """A running system: how to send it a job that is answered at its end, and its database."""

    name: str
    address: str
    sent: bytes
    database: str


@dataclass(frozen=True)
class Slice:
    """Figures of one system at a time; `minute` counts from the transaction's begin, times are from POST to answer."""

    system: str
    phase: str
    minute: float
    #: Answered in the steady flow; `failed` are other answers, as after a minute.
    jobs: int
    failed: int
    median_ms: float
    p95_ms: float
    burst_a_second: float
    dead_rows: int
    table_bytes: int
    #: Processor time of PostgreSQL's sessions of this database, in the steady flow.
    server_ms_a_job: float


def measure(*, quick: bool) -> Iterator[PlainTable]:
    """Measure all systems, and draw the plot."""
    minutes = int(os.environ.get("MINUTES", "4" if quick else "60"))
    FOUND.parent.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="pressroom-pinned-") as folder, ExitStack() as stack, FOUND.open("w") as file:
        queues = list(_start(stack, Path(folder)))
        for queue in queues:
            load(queue.address, queue.sent, **WARM_UP)  # type: ignore[arg-type]
        began = time.monotonic() + CALM * 60
        found: list[Slice] = []
        for phase, first, count in ((BEFORE, -CALM, CALM), (PINNED, 0, minutes), (AFTER, minutes, RECOVERY)):
            with ExitStack() as pins:
                if phase == PINNED:
                    for queue in queues:
                        _pin(pins, queue)
                for minute in range(first, first + count):
                    for number in range(len(queues)):
                        time.sleep(max(0, began + minute * 60 + number * SLICE_SECONDS - time.monotonic()))
                        at = round((time.monotonic() - began) / 60, 2)
                        found.append(_slice(queues[(number + minute) % len(queues)], phase, at))
                        file.write(json.dumps(asdict(found[-1])) + "\n")
                        file.flush()
    yield from _tell(found)


def _start(stack: ExitStack, folder: Path) -> Iterator[Queue]:
    running = stack.enter_context(pressroom(*only("made_up")))
    sent = request(running.address, "/made-up", b'{"count":1}', {"X-API-Key": running.key})
    yield Queue(OURS, running.address, sent, running.database_url)
    servers = Servers(running)
    for peer in (*(peer for peer in PEERS if peer.keeps == "PostgreSQL"), OBAN):
        theirs = stack.enter_context(running_peer(peer, servers, folder))
        theirs.start_worker()
        sent = request(theirs.address, "/jobs", b"{}", {})
        yield Queue(peer.name, theirs.address, sent, theirs.environment["DATABASE_URL"])


def _pin(stack: ExitStack, queue: Queue) -> None:
    """Keep a transaction open that has looked at the database once."""
    connection = stack.enter_context(psycopg.connect(queue.database))
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.execute("SELECT 1")


def _slice(queue: Queue, phase: str, minute: float) -> Slice:
    with psycopg.connect(queue.database, autocommit=True) as connection:
        sessions = [pid for (pid,) in connection.execute(SESSIONS)]
        load(queue.address, queue.sent, **AFTER_REST)  # type: ignore[arg-type]
        before = _used(sessions)
        steady = load(queue.address, queue.sent, **STEADY)  # type: ignore[arg-type]
        used = {pid: seconds - before.get(pid, seconds) for pid, seconds in _used(sessions).items()}
        burst = load(queue.address, queue.sent, **BURST)  # type: ignore[arg-type]
        dead_rows, table_bytes = connection.execute(TABLES).fetchone() or (0, 0)
    return Slice(
        queue.name,
        phase,
        minute,
        steady.statuses[200],
        steady.statuses.total() - steady.statuses[200],
        round(steady.percentile(50), 2),
        round(steady.percentile(95), 2),
        round(burst.rate, 1),
        dead_rows,
        table_bytes,
        round(sum(used.values()) / len(steady.took) * 1_000, 3),
    )


def _used(sessions: Sequence[int]) -> dict[int, float]:
    """Return the processor seconds of those that still run."""
    return {pid: processor_seconds(pid) for pid in sessions if Path(f"/proc/{pid}").exists()}


#: Figures: their heading, the format of their median, and their value in a slice.
FIGURES: dict[str, tuple[str, Callable[[Slice], float]]] = {
    "median, ms": (",.1f", lambda one: one.median_ms),
    "95 %, ms": (",.1f", lambda one: one.p95_ms),
    "PostgreSQL, ms a job": (",.2f", lambda one: one.server_ms_a_job),
    "most jobs a second": (",.0f", lambda one: one.burst_a_second),
    "dead rows": (",.0f", lambda one: one.dead_rows),
    "tables, MB": (",.0f", lambda one: one.table_bytes / 1e6),
}


def _tell(found: Sequence[Slice]) -> Iterator[PlainTable]:
    PLOT.write_text(_plot(found))
    minutes = sum(one.phase == PINNED and one.system == OURS for one in found)
    note = f"Medians of two slices before, the last two of {minutes} minutes with it, and one after its end."
    table = PlainTable("A pinned transaction", note, ("", *FIGURES))
    for system in _systems(found):
        parts = [
            [one for one in found if (one.system, one.phase) == (system, phase)][-last:]
            for phase, last in ((BEFORE, 2), (PINNED, 2), (AFTER, 1))
        ]
        cells = [
            " → ".join(format(statistics.median(map(read, part)), digits) for part in parts)
            for digits, read in FIGURES.values()
        ]
        table.rows.append((f"**{OURS}**" if system == OURS else system, *cells))
    yield table


def _systems(found: Sequence[Slice]) -> list[str]:
    """Return their names, ours first."""
    return sorted({one.system for one in found}, key=lambda name: (name != OURS, name))


def _plot(found: Sequence[Slice]) -> str:
    """Return the plot: a panel for each figure, a line for each system."""
    systems = _systems(found)
    end = round(min(one.minute for one in found if one.phase == AFTER))
    panels = [
        Panel(head, [Line(name, [(one.minute, read(one)) for one in found if one.system == name]) for name in systems])
        for head, (_, read) in FIGURES.items()
    ]
    return draw(f"{end} minutes with a pinned transaction", panels, marks=(0, end), along="minutes")


if __name__ == "__main__":
    print(*_tell([Slice(**json.loads(line)) for line in FOUND.read_text().splitlines()]))
