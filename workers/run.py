"""Run: claim items, hand them to their handler, report what became of them."""

import threading
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any

from pipeline import lifecycle
from pipeline.artifacts import Artifacts
from pipeline.broker import WakeBroker
from pipeline.database import Database
from pipeline.errors import NotReady, PressroomError
from pipeline.kind import Failed, Handler, Kind, Release, Watchable
from pipeline.kinds import Kinds
from pipeline.lifecycle import ClaimedItem
from pipeline.log import get_logger
from pipeline.metrics import Metrics
from pipeline.offers import publish_offers
from pipeline.settings import Settings
from workers.engines import Stopped
from workers.gates import Gates
from workers.heartbeat import Heartbeat, Run
from workers.outcomes import to_row, unforeseen
from workers.reporting import Reporter
from workers.slots import Slots
from workers.task import LeasedTask

log = get_logger(__name__)

#: A process with several slots is never idle while there is work; it gets so after this time, in seconds, when an item
#: that has crashed a worker is ready, which goes only to a process that holds nothing else. It asks so often.
ALONE_EVERY_SECONDS = 30.0
ASK_SECONDS = 1.0
#: How often a busy process looks by itself, in seconds.
LOOK_SECONDS = 0.25
#: A process that claims time and again wakes another this often at most, in seconds.
WAKE_AGAIN_SECONDS = 0.05
#: A gate that opens so soon is waited for here, and no item with it; later ones are found by the next look.
LONGEST_PAUSE = timedelta(seconds=1)
#: A wait for a wake-up of no time at all would be one without an end.
SHORTEST_WAIT = 0.005


class Runner:
    """Serves one queue in one process."""

    def __init__(
        self,
        queue: str,
        kinds: Kinds,
        handlers: Mapping[str, Handler],
        *,
        database: Database,
        broker: WakeBroker,
        artifacts: Artifacts,
        settings: Settings,
        metrics: Metrics,
    ) -> None:
        self._queue = queue
        self._kinds = kinds
        self._handlers = dict(handlers)
        self._database = database
        self._broker = broker
        self._artifacts = artifacts
        self._settings = settings
        self._reporter = Reporter(queue, database=database, broker=broker, artifacts=artifacts, metrics=metrics)
        self._gates = Gates(handlers, database)
        self._lease_for = timedelta(seconds=settings.work.lease_seconds)
        self._slots = Slots(self._handlers)
        self._is_set_up = False
        self._claims = count(1)
        self._alone_at = time.monotonic()
        self._asked_at = 0.0
        self._awaited = False
        self._woke_at = 0.0
        self._ended = threading.Condition()
        self._stopping = threading.Event()
        self._heartbeat = Heartbeat(
            database,
            every=settings.work.heartbeat_seconds,
            lease_for=self._lease_for,
            after_beat=self._reporter.flush_metrics,
        )

    def setup(self) -> None:
        """Set the engines up and tell everybody what they offer; kinds whose handler is not ready are not claimed."""
        for handler in {id(handler): handler for handler in self._handlers.values()}.values():
            try:
                handler.setup()
            except NotReady as error:
                log.error("handler not ready", queue=self._queue, needs=error.message)
                self._handlers = {name: other for name, other in self._handlers.items() if other is not handler}
            self._publish(handler)
            if isinstance(handler, Watchable):
                handler.watch(partial(self._publish, handler))
        self._slots = Slots(self._handlers)
        self._is_set_up = True
        log.info("pool process ready", queue=self._queue, kinds=sorted(self._handlers))

    def _publish(self, handler: Handler) -> None:
        try:
            self._database.run(publish_offers(handler.offers()))
        except PressroomError as error:
            log.warning("offers not published", queue=self._queue, error=error.message)

    def stop(self) -> None:
        """Claim nothing more; `drain` returns when what is held has ended, or was given back."""
        self._stopping.set()
        with self._ended:
            self._ended.notify_all()

    def drain(self) -> None:
        """Work until nothing is due; the first call sets the engines up."""
        if not self._is_set_up:
            self.setup()
        self._woke_at = 0.0
        while not self._stopping.is_set():
            was_busy = bool(self._heartbeat.held())  # asked first: what ends meanwhile leaves room unclaimed
            claimed = self._claim()
            if claimed:
                for batch in self._in_batches(claimed):
                    self._start(batch)
            elif was_busy or self._gates.pause(most=LONGEST_PAUSE) is not None:
                self._wait()
            else:
                return
        self._give_back()

    def _claim(self) -> list[ClaimedItem]:
        runs = self._gates.admit(self._room())
        limits = {kind: count * self._handlers[kind].batch for kind, count in runs.items()}
        if not limits:
            return []
        oldest = next(self._claims) % self._settings.work.oldest_first_every == 0
        alone = not self._heartbeat.held()
        if alone:
            self._alone_at = time.monotonic()
        claimed = self._database.run(lifecycle.claim(limits, lease_for=self._lease_for, alone=alone, oldest=oldest))
        self._gates.claimed(claimed[0].kind if claimed else None, runs=len(self._in_batches(claimed)))
        if claimed and len(claimed) == limits[claimed[0].kind]:
            self._wake_another()
        return claimed

    def _wake_another(self) -> None:
        """There may be more: one wake-up ramps the whole pool, each process waking the next."""
        if time.monotonic() - self._woke_at > WAKE_AGAIN_SECONDS:
            self._woke_at = time.monotonic()
            self._broker.wake(self._queue)

    def _room(self) -> dict[str, int]:
        """Return for how many runs of each kind this process has slots now; of kinds that are missing, for none."""
        held = self._heartbeat.held()
        is_kept_free = any(task.item.crashes for run in held for task in run.tasks) or (held and self._is_awaited())
        return {} if is_kept_free else self._slots.room(held)

    def _is_awaited(self) -> bool:
        """Return whether a crashed item waits for a process that holds nothing, and this has held something for long.

        Without one nothing is held back: a recording may take hours, and others come meanwhile."""
        now = time.monotonic()
        if now - self._alone_at <= ALONE_EVERY_SECONDS:
            self._awaited = False
        elif now - self._asked_at > ASK_SECONDS:
            self._asked_at = now
            self._awaited = self._database.run(lifecycle.has_crashed_ready(list(self._handlers)))
        return self._awaited

    def _in_batches(self, claimed: Sequence[ClaimedItem]) -> list[Sequence[ClaimedItem]]:
        """Return the runs that a claim is made of."""
        size = self._handlers[claimed[0].kind].batch if claimed else 1
        return [claimed[first : first + size] for first in range(0, len(claimed), size)]

    def _start(self, claimed: Sequence[ClaimedItem]) -> None:
        kind = self._kinds[claimed[0].kind]
        keep_for = kind.keep_for or timedelta(hours=self._settings.retention.result_hours)
        tasks = [
            LeasedTask(
                item,
                database=self._database,
                artifacts=self._artifacts,
                keep_for=keep_for,
                lease_for=self._lease_for,
                announce=self._reporter.announce_parts,
            )
            for item in claimed
        ]
        run = Run(claimed[0].lease_id, tasks, kind.run_limit, time.monotonic(), kind.stall_limit)
        self._heartbeat.hold(run)
        # A thread of its own, and a daemon: a hung engine must not keep the process from ending.
        threading.Thread(target=self._carry_out, args=(kind, run), name=f"run {kind.name}", daemon=True).start()

    def _wait(self) -> None:
        """Wait for a run to end or, while there is room for another, for a wake-up or for a gate to open."""
        if self._room():
            pause = self._gates.pause(most=LONGEST_PAUSE)
            seconds = LOOK_SECONDS if pause is None else min(LOOK_SECONDS, max(SHORTEST_WAIT, pause.total_seconds()))
            self._broker.wait_for_wake(self._queue, seconds)
            self._woke_at = 0.0  # this one may have been for more than we take
            return
        with self._ended:
            if self._heartbeat.held() and not self._stopping.is_set():
                self._ended.wait(LOOK_SECONDS)

    def _carry_out(self, kind: Kind[Any], run: Run) -> None:
        started = time.monotonic()
        try:
            outcomes = self._outcomes(self._handlers[kind.name], run.tasks)
            run.is_reported = True
            self._reporter.report(kind, run, outcomes, seconds=time.monotonic() - started)
        except PressroomError as error:
            # The lease runs out, and somebody does the work again.
            log.error("report not written", error=error.message, items=len(run.tasks))
        finally:
            with self._ended:
                self._heartbeat.drop(run)
                self._ended.notify_all()

    def _outcomes(self, handler: Handler, tasks: Sequence[LeasedTask]) -> list[lifecycle.Outcome]:
        """Return what became of each task; whatever a handler throws or says, each gets an answer."""
        try:
            outcomes = handler.run(tasks)
            return [to_row(task, outcome) for task, outcome in zip(tasks, outcomes, strict=True)]
        except Stopped:
            return [to_row(task, Release()) for task in tasks]
        except PressroomError as error:
            return [to_row(task, Failed(error)) for task in tasks]
        except Exception as error:  # the last fence
            log.exception("handler failed", queue=self._queue, items=len(tasks))
            if len(tasks) > 1:
                # Which of them it was is not known: one by one, so that none fails for its neighbour.
                return [self._outcomes(handler, [task])[0] for task in tasks]
            return [to_row(task, unforeseen(error, attempts=task.attempts)) for task in tasks]

    def _give_back(self) -> None:
        """Wait for what is held, and release what is not done in time: another process goes on with it."""
        # Earlier than the process is ended: what is not given back waits for its lease and counts a crash.
        deadline = time.monotonic() + 0.75 * self._settings.work.drain_seconds
        with self._ended:
            while self._heartbeat.held() and time.monotonic() < deadline:
                self._ended.wait(0.1)
        for run in self._heartbeat.held():
            for task in run.tasks:
                task.stop()
            self._reporter.give_back(run)
        self._reporter.flush_metrics()
