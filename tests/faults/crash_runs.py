"""Runs of a pool's process that dies at one call: another takes over, and all must be as if nothing had been."""

import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from crash_points import AFTER, BEFORE, DURING, Plan, Told, sides_of
from crash_site import SLOTS, Copy, Site
from crash_worker import pool_process
from forks import forked, join
from waiting import wait_for

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Statement
from pipeline.kind import AnyKind
from pipeline.storage.artifacts import Artifacts, open_store
from pipeline.wakes.broker import WakeBroker, connect
from scripts.commands.sweep import Sweep

#: Parts of outputs and file names that differ from run to run.
PASSING = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # leases
    r"|\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|\+00:00)?)?"
    r"|\d+\.\d+"
    r'|(?<="parts": )\d+'
    r'|(?<=\.flac": ")[0-9a-f]{64}'  # espeak's noise depends on all that its process has spoken
)
#: onnxruntime's, one for all processes.
KEPT_TEMPORARY = {".ses"}
KILLED = -9
#: No kind has so many; a run that never completes would go on for ever.
MOST_POINTS = 400


@dataclass(frozen=True)
class State:
    """The state that must be the same however often a process dies."""

    job: dict[str, Any]
    items: list[str]
    #: The hash of all artifacts but FLAC files in order: a stream's parts may end anywhere.
    content: str
    events: int


@dataclass
class Found:
    """The results of all runs of a kind."""

    name: str
    #: Runs that died, by the job's progress.
    died: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    calls_made: int = 0
    #: Artifacts of processes that died, which the sweep deleted.
    left: int = 0

    def row(self) -> str:
        """Return the kind's line of the table."""
        by_kind = ", ".join(f"{name} {count}" for name, count in sorted(self.calls.items()))
        return (
            f"| {self.name} | {self.calls_made or '-'} | {self.died.total()} | {by_kind} |"
            f" {self.died['not begun']} | {self.died['in hand']} | {self.died['ended']} | {self.left} |"
        )


HEAD = (
    "| kind | calls | deaths | at calls of | job not begun | in hand | ended | artifacts left for the sweep |\n"
    "|---|---:|---:|---|---:|---:|---:|---:|"
)


def run_once(target: Callable[[Mapping[str, str], Plan, Path], None], own: Copy, plan: Plan) -> Told:
    """Run a process that may die, and return what it has told."""
    report = own.folder / f"{target.__name__}.json"
    with forked(target, own.environment, plan, report) as process:
        status = join(process, 300)
        told = Told(**json.loads(report.read_text()))
        assert status == (KILLED if told.died_at else 0), report.with_suffix(".log").read_text()[-5_000:]
    return told


def die_at_each(call: str, run: Callable[[Plan], Told]) -> int:
    """Run with a death at the first, second … call of a name, on all sides of it; returns how many there are."""
    for number in range(1, MOST_POINTS):
        if run(Plan(number, BEFORE, call)).died_at is None:
            return number - 1
        for side in sides_of(call)[1:]:
            run(Plan(number, side, call))
    raise AssertionError(f"no run completes without a further {call}")


class Runs:
    """All runs of one kind."""

    def __init__(self, site: Site, kind: AnyKind) -> None:
        self._site = site
        self._kind = kind
        self._lock = threading.Lock()
        self.found = Found(kind.name)
        self._expected: State | None = None

    def undisturbed(self) -> list[str]:
        """Run without a death, and keep what came of it; returns the calls."""
        told = self._run(Plan())
        assert told.died_at is None
        return told.calls

    def one(self, plan: Plan) -> Told:
        """Run with a death; what comes of it must be what came of the undisturbed run."""
        return self._run(plan)

    def some(self, plans: Sequence[Plan]) -> Found:
        """Run with each of these deaths."""
        with ThreadPoolExecutor(SLOTS) as threads:
            for told in threads.map(self.one, plans):
                assert told.died_at, told.calls
        return self.found

    def each(self) -> Found:
        """Run with a death at the first, second … call of each name, on all sides of it, until none is left.

        Threads make their calls in another order in each run, so that the n-th of all may never be a rare one."""
        names = [*dict.fromkeys(self.undisturbed())]
        with ThreadPoolExecutor(SLOTS) as threads:
            self.found.calls_made = sum(threads.map(self._each_of, names))
        return self.found

    def _each_of(self, call: str) -> int:
        return die_at_each(call, self.one)

    def _run(self, plan: Plan) -> Told:
        with self._site.copy(f"crash_of_{self._kind.name}") as copy, Database(copy.database_url) as database:
            report = copy.folder / "worker.json"
            status = self._work(copy, plan, report)
            log = report.with_suffix(".log").read_text()[-20_000:]
            assert status is not None, f"{plan}: the process goes on\n{log}"
            told = Told(**json.loads(report.read_text()))
            assert status == (0 if told.died_at is None else KILLED), f"{plan} {status} {told}\n{log}"
            if told.died_at is not None:
                self._note(told.died_at, self._how_far(database))
                self._go_on(copy, database, told)
            self._check(copy, database, f"{self._kind.name}: {plan} {told.died_at}")
            return told

    def _note(self, died_at: str, how_far: str) -> None:
        with self._lock:
            self.found.died[how_far] += 1
            self.found.calls[died_at.split()[1].rstrip(":")] += 1

    def _work(self, copy: Copy, plan: Plan, report: Path) -> int | None:
        with forked(pool_process, copy.environment, self._kind.queue, plan, report) as process:
            return join(process, 300)

    def _how_far(self, database: Database) -> str:
        (row,) = database.run(
            Statement(
                "SELECT state, finished_at IS NOT NULL AS ended FROM job WHERE id = %(id)s",
                {"id": self._site.jobs[self._kind.name]},
            )
        )
        return "ended" if row["ended"] else "not begun" if row["state"] == "queued" else "in hand"

    def _go_on(self, copy: Copy, database: Database, told: Told) -> None:
        """Let the dead process's lease end, and another process and the sweep go on."""
        settings = copy.settings
        with connect(copy.redis_url) as client:
            store = Artifacts(open_store(settings))
            sweep = Sweep(database, WakeBroker(client), store, self._site.kinds, settings)

            def goes_on() -> bool:
                database.run(Statement("UPDATE item SET run_at = now() WHERE state = 'waiting' RETURNING 1"))
                sweep.once()
                return self._how_far(database) == "ended"

            database.run(
                Statement("UPDATE item SET lease_until = now() - interval '1 s' WHERE state = 'leased' RETURNING 1")
            )
            if goes_on():
                return
            report = copy.folder / "next.json"
            with forked(pool_process, copy.environment, self._kind.queue, Plan(), report) as process:
                wait_for(
                    goes_on, seconds=300, about=lambda: f"{told}\n{report.with_suffix('.log').read_text()[-5_000:]}"
                )
                status = join(process, 120)
                assert status == 0, f"{status} {told}\n{report.with_suffix('.log').read_text()[-5_000:]}"

    def _check(self, copy: Copy, database: Database, about: str) -> None:
        assert database.run(discrepancies()) == [], about
        state = self._state(copy, database)
        with self._lock:
            self._expected = self._expected or state
        assert state == self._expected, f"{about}\n{state}\n{self._expected}"
        assert {file.name for file in copy.temporary.iterdir()} <= KEPT_TEMPORARY, about
        with connect(copy.redis_url) as client:
            settings = copy.settings
            store = Artifacts(open_store(settings))
            Sweep(database, WakeBroker(client), store, self._site.kinds, settings).once()
            store.delete_expired(date.max)
        assert copy.files() == [], about

    def _state(self, copy: Copy, database: Database) -> State:
        job_id = self._site.jobs[self._kind.name]
        (job,) = _rows(
            database,
            "SELECT state, items_total, items_ok, items_failed, credits_held, credits_captured, engine, error"
            f" FROM job WHERE id = '{job_id}'",
        )
        items = _rows(
            database,
            "SELECT index, state, captured, attempts, output, error, lease_id"
            f" FROM item WHERE job_id = '{job_id}' ORDER BY index",
        )
        leases = [str(item.pop("lease_id")) for item in items]
        made = [((item["output"] or {}).get("_made") or {}).get("files", {}) for item in items]
        sums = {name: hashed for files in made for name, hashed in files.items()}
        content, left = hashlib.sha256(), 0
        for name in copy.files():
            if any(lease in name for lease in leases):
                stored = (copy.folder / "data" / "artifacts" / name).read_bytes()
                if name.endswith(".flac"):
                    assert hashlib.sha256(stored).hexdigest() == sums[name], name
                else:
                    content.update(stored)
            elif not name.startswith("uploads/"):
                left += 1
        with self._lock:
            self.found.left += left
        (events,) = _rows(database, f"SELECT count(*) AS n FROM webhook_delivery WHERE job_id = '{job_id}'")
        for item in items:
            _undo_reuse(job, item)
        masked = [PASSING.sub("…", json.dumps(item, default=str, sort_keys=True)) for item in items]
        return State(job, masked, content.hexdigest(), events["n"])


def _undo_reuse(job: dict[str, Any], item: dict[str, Any]) -> None:
    """Take an answer that the dead process had kept, and that costs nothing now, for one that was asked for."""
    output = item["output"] or {}
    if output.pop("reused", False):
        output.pop("age_seconds")
        item["captured"] += 1
        job["credits_captured"] += 1


def _rows(database: Database, query: str) -> list[dict[str, Any]]:
    return database.run(Statement(query))


#: The statement that reports and, while work flows, makes the next claim; like the others, it commits by itself.
CLAIMED, BEATEN, REPORTED = "postgres: claim", "postgres: heartbeat", "postgres: report"


def decisive(calls: Sequence[str]) -> list[Plan]:
    """Return a few deaths that stand for all: at the start, in an artifact, and around claim, heartbeat and report."""
    stored = [Plan(call="store: put", side=DURING)] if "store: put" in calls else []
    around = [Plan(call=call, side=side) for call in (CLAIMED, BEATEN, REPORTED) for side in (BEFORE, AFTER)]
    return [Plan(1), *stored, *around, Plan(call="redis: PUBLISH")]
