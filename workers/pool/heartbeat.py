"""Heartbeat: renews the leases of a process, writes progress, and ends runs that take too long."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg_pool import PoolClosed

from pipeline import lifecycle
from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.lifecycle import Outcome
from pipeline.log import errors_logged, get_logger
from workers.pool.outcomes import error_row
from workers.task import Task

log = get_logger(__name__)

#: Exit status of a process whose engine hung (EX_TEMPFAIL); the supervisor starts it again.
HUNG = 75


class TimedOut(PressroomError):
    """The engine took longer than its kind allows."""

    code = "timed_out"


@dataclass(slots=True, eq=False)
class Run:
    """Tasks of one lease in a handler since `started` (monotonic seconds). A lease may have several runs."""

    lease_id: UUID
    tasks: Sequence[Task[Any]]
    limit: timedelta
    started: float
    #: Longest time in which nothing moves; None: no limit.
    stall_limit: timedelta | None = None
    is_reported: bool = False
    is_logged: bool = False

    @property
    def log_fields(self) -> dict[str, Any]:
        """The log field that names its jobs."""
        jobs = list(dict.fromkeys(str(task.job_id) for task in self.tasks))
        return {"job_id": jobs[0]} if len(jobs) == 1 else {"job_ids": jobs}

    @property
    def exceeded(self) -> timedelta | None:
        """The limit that it has exceeded, or None."""
        now = time.monotonic()
        if now - self.started > self.limit.total_seconds():
            return self.limit
        moved = max(self.started, *(task.moved for task in self.tasks))
        if self.stall_limit is not None and now - moved > self.stall_limit.total_seconds():
            return self.stall_limit
        return None


class Heartbeat:
    """One thread a process, which renews at its own pace whatever is held then.

    Nothing wakes it, which saves two thread switches an item. Holding and dropping are single list operations and need
    no lock; a run's first beat comes within `every` of its claim."""

    def __init__(
        self,
        database: Database,
        *,
        every: float,
        lease_for: timedelta,
        after_beat: Callable[[], None] = lambda: None,
        end_process: Callable[[int], object] = os._exit,
    ) -> None:
        self._database = database
        self._every = every
        self._lease_for = lease_for
        self._after_beat = after_beat
        self._end_process = end_process
        self._runs: list[Run] = []
        #: When a run ended last, in monotonic seconds; 0: never.
        self.dropped_at = 0.0
        threading.Thread(target=self._loop, name="heartbeat", daemon=True).start()

    def hold(self, run: Run) -> None:
        """Keep a run's leases alive from now on."""
        self._runs.append(run)

    def drop(self, run: Run) -> None:
        """Stop keeping a run's leases alive."""
        self._runs.remove(run)
        self.dropped_at = time.monotonic()

    def held(self) -> list[Run]:
        """Return the runs that go on."""
        return self._runs.copy()

    def _loop(self) -> None:
        while True:
            time.sleep(self._every)
            runs = self.held()
            with errors_logged(log, "heartbeat failed", leases=len(runs)):
                try:
                    self._beat(runs)
                    self._after_beat()
                except PoolClosed:
                    return  # the process is ending
                except PressroomError as error:
                    log.warning("heartbeat not written", error=error.message, leases=len(runs))
            self._end_overdue(runs)

    def _beat(self, runs: Sequence[Run]) -> None:
        tasks = [task for run in runs for task in run.tasks]
        if not tasks:
            return
        self._log_started(runs)
        held = self._database.run(lifecycle.heartbeat([task.beat() for task in tasks], lease_for=self._lease_for))
        # A run that is being reported has given up its leases itself.
        for task in (task for run in runs if not run.is_reported for task in run.tasks):
            if task.item.item_id not in held and not task.is_stopped():
                log.info("item stopped", job_id=str(task.job_id), index=task.index)
                task.stop()

    def _log_started(self, runs: Sequence[Run]) -> None:
        """Log each run that outlives a heartbeat, once; a short one has only the line of its report."""
        for run in runs:
            seconds = time.monotonic() - run.started
            if not run.is_logged and seconds >= self._every:
                run.is_logged = True
                kind = run.tasks[0].item.kind
                log.info(
                    "run started", kind=kind, items=len(run.tasks), seconds_ago=round(seconds, 1), **run.log_fields
                )

    def _end_overdue(self, runs: Sequence[Run]) -> None:
        """End the process if a run exceeds a limit: a thread can't be stopped, and its lease would be renewed."""
        if not any(run.exceeded for run in runs):
            return
        for run in runs:
            self._give_up(run)
        self._end_process(HUNG)

    def _give_up(self, run: Run) -> None:
        exceeded = run.exceeded
        if exceeded is None or run.is_reported:
            outcomes = [Outcome(task.item.item_id, "release") for task in run.tasks]
        elif len(run.tasks) == 1:
            what = "took longer than" if exceeded == run.limit else "made no progress for"
            error = TimedOut(
                f"The work {what} {exceeded.total_seconds():,.0f} s and was stopped. Nothing was charged for it."
            )
            outcomes = [Outcome(run.tasks[0].item.item_id, "failed", error=error_row(error))]
        else:
            # Any of them may hang. When the lease runs out, each counts a crash and comes back alone.
            log.error("batch timed out", items=len(run.tasks))
            return
        try:
            self._database.run(lifecycle.report(run.lease_id, outcomes))
        except PressroomError as error:
            log.error("time-out not reported", error=error.message)
