"""Run: claim items, hand them to their handler, report what became of them."""

import threading
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from structlog.contextvars import bound_contextvars

from pipeline import lifecycle
from pipeline.artifacts import Artifacts
from pipeline.broker import WakeBroker
from pipeline.database import Database, Statement
from pipeline.errors import NotReady, PressroomError
from pipeline.kind import AnyKind
from pipeline.kinds import Kinds, lanes_of
from pipeline.lifecycle import ClaimedItem
from pipeline.log import get_logger
from pipeline.metrics import Metrics
from pipeline.offers import publish_offers
from pipeline.settings import Settings
from pipeline.tracing import open_tracer
from workers.claiming import Claimer
from workers.engines import Stopped
from workers.handler import Failed, Handler, Outcome, Release, UsesDatabase, Watchable
from workers.heartbeat import Heartbeat, Run
from workers.late_handlers import LateHandlers
from workers.outcomes import to_row, unforeseen, unless_passing
from workers.reporting import Ended, Reporter
from workers.rounds import Rounds
from workers.task import LeasedTask
from workers.thread_pool import ThreadPool

log = get_logger(__name__)

#: How often a busy process looks by itself, in seconds.
LOOK_SECONDS = 0.25
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
        handlers: Mapping[str, Handler[Any, Any]],
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
        self._late = LateHandlers()
        self._database = database
        self._broker = broker
        self._artifacts = artifacts
        self._settings = settings
        self._tracer = open_tracer(settings, queue)
        self._reporter = Reporter(
            queue, database=database, broker=broker, artifacts=artifacts, metrics=metrics, tracer=self._tracer
        )
        self._claimer = self._make_claimer()
        self._lease_for = timedelta(seconds=settings.work.lease_seconds)
        self._is_set_up = False
        self._threads = ThreadPool(f"run {queue}")
        self._rounds = Rounds(self._round)
        self._due: list[Ended] = []
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._stopped_at = 0.0
        self._heartbeat = Heartbeat(
            database,
            every=settings.work.heartbeat_seconds,
            lease_for=self._lease_for,
            after_beat=self._reporter.flush_metrics,
        )

    def setup(self) -> None:
        """Set the engines up and tell everybody what they offer; kinds whose handler is not ready are not claimed."""
        for handler in {id(handler): handler for handler in self._handlers.values()}.values():
            if isinstance(handler, UsesDatabase):
                handler.use(self._database)
            try:
                handler.setup()
            except NotReady as error:
                log.error("handler not ready", queue=self._queue, needs=error.message)
                self._handlers = self._late.set_aside(handler, self._handlers)
            self._publish(handler)
            if isinstance(handler, Watchable):
                handler.watch(partial(self._renew, handler))
        self._claimer = self._make_claimer()
        self._is_set_up = True
        log.info("pool process ready", queue=self._queue, kinds=sorted(self._handlers))

    def _make_claimer(self) -> Claimer:
        ready = {name: kind for name, kind in self._kinds.items() if name in self._handlers}
        lanes = {lane: self._handlers[kind.name] for lane, kind in lanes_of(ready).items()}
        wake = self._reporter.wake
        return Claimer(self._queue, lanes, database=self._database, wake=wake, settings=self._settings)

    def _renew(self, handler: Handler[Any, Any]) -> None:
        """Tell everybody what a handler offers now; one that lacked an engine is asked again."""
        self._late.ask(handler)
        self._publish(handler)

    def _take_on(self) -> None:
        """Claim from now on for the handlers that have become ready."""
        if ready := self._late.take():
            self._handlers |= ready
            self._claimer = self._make_claimer()
            log.info("kinds ready now", queue=self._queue, kinds=sorted(ready))

    def _publish(self, handler: Handler[Any, Any]) -> None:
        try:
            self._database.run(publish_offers(handler.offers()))
        except PressroomError as error:
            log.warning("offers not published", queue=self._queue, error=error.message)

    def stop(self) -> None:
        """Claim nothing more; `drain` returns when what is held has ended, or was given back."""
        self._stopped_at = time.monotonic()
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()

    def drain(self) -> None:
        """Work until nothing is due; the first call sets the engines up."""
        if not self._is_set_up:
            self.setup()
        self._claimer.wake_again()
        while not self._stopping.is_set():
            was_busy = bool(self._heartbeat.held())  # asked first: what ends meanwhile leaves room unclaimed
            is_looked = self._rounds.ask()  # if not, another thread may be claiming now
            is_busy = was_busy or not is_looked or bool(self._heartbeat.held())
            if not is_busy and self._claimer.pause(most=LONGEST_PAUSE) is None:
                return
            self._wait()
        self._give_back()

    def _round(self) -> bool:
        """Report what has ended and claim what comes next; returns whether there may be more to claim.

        Whoever ends a run makes the round, for all that have ended meanwhile: a report and a claim for each would be
        two commits, and all reports of a job wait for its row."""
        with self._changed:
            due, self._due = self._due, []
        ended = [one.run for one in due]
        started: list[Sequence[ClaimedItem]] = []
        self._take_on()
        try:
            claim = self._next_claim(due)
            taken, claimed = self._reporter.write(due, then=claim)
            started = self._split(claimed) if claim else []
            for items in started:
                self._start(items)
            self._claimer.wake_another()
            self._reporter.tell(due, taken)
        finally:
            self._let_go(ended, leaves_room=len(started) < len(ended))
        return bool(started)

    def _split(self, claimed: Sequence[ClaimedItem]) -> list[Sequence[ClaimedItem]]:
        """Return the runs that the items of a claim make."""
        size = self._claimer.claimed(claimed[0].lane if claimed else None, len(claimed))
        return [claimed[first : first + size] for first in range(0, len(claimed), size)]

    def _next_claim(self, due: Sequence[Ended]) -> Statement[list[ClaimedItem]] | None:
        """Return the claim to make beside what is held and not due. Raises what a gate raises, if nothing is due."""
        if self._stopping.is_set():
            return None
        ended = [one.run for one in due]
        try:
            return self._claimer.next([run for run in self._heartbeat.held() if run not in ended])
        except Exception:
            if not due:
                raise
            log.exception("nothing claimed")  # what is due is reported all the same
            return None

    def _let_go(self, ended: Sequence[Run], *, leaves_room: bool) -> None:
        with self._changed:
            for run in ended:
                self._heartbeat.drop(run)
            if leaves_room:
                self._changed.notify_all()

    def _start(self, claimed: Sequence[ClaimedItem]) -> None:
        kind = self._kinds[claimed[0].kind]
        keep_for = kind.limits.keep_for or timedelta(hours=self._settings.retention.result_hours)
        tasks = [
            LeasedTask(
                item,
                kind.input,
                database=self._database,
                artifacts=self._artifacts,
                keep_for=keep_for,
                lease_for=self._lease_for,
                announce=self._reporter.announce_parts,
            )
            for item in claimed
        ]
        run = Run(claimed[0].lease_id, tasks, kind.limits.run, time.monotonic(), kind.limits.stall)
        self._heartbeat.hold(run)
        self._threads.start(partial(self._carry_out, kind, run))

    def _wait(self) -> None:
        """Wait for room or, while there is some, for a wake-up or for a gate to open."""
        if self._claimer.room(self._heartbeat.held()):
            pause = self._claimer.pause(most=LONGEST_PAUSE)
            seconds = LOOK_SECONDS if pause is None else min(LOOK_SECONDS, max(SHORTEST_WAIT, pause.total_seconds()))
            self._broker.wait_for_wake(self._queue, seconds)
            self._claimer.wake_again()  # this one may have been for more than we take
            return
        with self._changed:
            if self._heartbeat.held() and not self._stopping.is_set():
                self._changed.wait(LOOK_SECONDS)

    def _carry_out(self, kind: AnyKind, run: Run) -> None:
        started = time.monotonic()
        with bound_contextvars(**run.log_fields):
            log.info("run started", kind=kind.name, items=len(run.tasks))
            outcomes = self._outcomes(self._handlers[kind.name], run.tasks)
        run.is_reported = True
        with self._changed:
            self._due.append(Ended(kind, run, outcomes, time.monotonic() - started))
        try:
            self._rounds.ask()
        except PressroomError as error:
            log.error("nothing claimed", error=error.message)  # `drain` asks again
        except Exception:
            log.exception("round failed", queue=self._queue)

    def _outcomes(self, handler: Handler[Any, Any], tasks: Sequence[LeasedTask[Any]]) -> list[lifecycle.Outcome]:
        """Return what became of each task; whatever a handler throws or says, each gets an answer."""
        try:
            return _rows(tasks, handler.run(tasks))
        except Stopped:
            return _rows(tasks, [Release()] * len(tasks))
        except PressroomError as error:
            return _rows(tasks, [Failed(error)] * len(tasks))
        except Exception as error:  # the last fence
            log.exception("handler failed", queue=self._queue, items=len(tasks))
            if len(tasks) > 1:
                # Which of them it was is not known: one by one, so that none fails for its neighbour.
                return [self._outcomes(handler, [task])[0] for task in tasks]
            return _rows(tasks, [unforeseen(error, attempts=tasks[0].attempts)])

    def _give_back(self) -> None:
        """Wait for what is held, and release what is not done in time: another process goes on with it."""
        # Earlier than the process is ended: what is not given back waits for its lease and counts a crash.
        deadline = self._stopped_at + 0.75 * self._settings.work.drain_seconds
        # A round that began before the stop may be claiming, so it is waited for as well.
        while not (self._rounds.ask() and not self._heartbeat.held()) and time.monotonic() < deadline:
            with self._changed:
                self._changed.wait(0.1)
        for run in self._heartbeat.held():
            for task in run.tasks:
                task.stop()
            self._reporter.give_back(run)
        self._reporter.flush_metrics()
        self._reporter.close()
        self._tracer.close()


def _rows(tasks: Sequence[LeasedTask[Any]], outcomes: Sequence[Outcome[Any]]) -> list[lifecycle.Outcome]:
    return [
        to_row(task.item_id, task.price, unless_passing(outcome, attempts=task.attempts))
        for task, outcome in zip(tasks, outcomes, strict=True)
    ]
