"""Run: claim items, hand them to their handler, report what became of them."""

import importlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any
from uuid import UUID

from redis.exceptions import RedisError

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
from pipeline.notices import add_notice
from pipeline.offers import publish_offers
from pipeline.settings import Settings
from pipeline.streams import Parts, add_part_notice
from workers.engines import Stopped
from workers.gates import Gates
from workers.heartbeat import Heartbeat, Run
from workers.outcomes import to_row, unforeseen
from workers.task import LeasedTask

log = get_logger(__name__)

#: A process with several slots is never idle while there is work; it gets so after this time, in seconds, because an
#: item that has crashed a worker goes only to a process that holds nothing else.
ALONE_EVERY_SECONDS = 30.0
#: How often a busy process looks by itself, in seconds.
LOOK_SECONDS = 0.25
#: A gate that opens so soon is waited for here, and no item with it; later ones are found by the next look.
LONGEST_PAUSE = timedelta(seconds=1)
#: A wait for a wake-up of no time at all would be one without an end.
SHORTEST_WAIT = 0.005


def load_handlers(kinds: Kinds, queue: str, settings: Settings) -> dict[str, Handler]:
    """Return the handler of each kind of a queue; kinds that name the same class share one."""
    made: dict[str, Handler] = {}
    handlers: dict[str, Handler] = {}
    for kind in kinds.values():
        if kind.queue != queue:
            continue
        if kind.handler not in made:
            module, _, name = kind.handler.partition(":")
            made[kind.handler] = getattr(importlib.import_module(module), name)(settings)
        handlers[kind.name] = made[kind.handler]
    return handlers


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
        self._metrics = metrics
        self._gates = Gates(handlers, database)
        self._lease_for = timedelta(seconds=settings.work.lease_seconds)
        self._is_set_up = False
        self._claims = count(1)
        self._alone_at = time.monotonic()
        self._ended = threading.Condition()
        self._stopping = threading.Event()
        self._heartbeat = Heartbeat(
            database,
            every=settings.work.heartbeat_seconds,
            lease_for=self._lease_for,
            after_beat=self._flush_metrics,
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
        while not self._stopping.is_set():
            claimed = self._claim()
            if claimed:
                self._start(claimed)
            elif self._heartbeat.held() or self._gates.pause(most=LONGEST_PAUSE) is not None:
                self._wait()
            else:
                return
        self._give_back()

    def _claim(self) -> list[ClaimedItem]:
        limits = self._gates.admit(self._limits())
        if not limits:
            return []
        oldest = next(self._claims) % self._settings.work.oldest_first_every == 0
        alone = not self._heartbeat.held()
        if alone:
            self._alone_at = time.monotonic()
        claimed = self._database.run(lifecycle.claim(limits, lease_for=self._lease_for, alone=alone, oldest=oldest))
        self._gates.claimed(claimed[0].kind if claimed else None)
        if claimed and len(claimed) == limits[claimed[0].kind]:
            # There may be more: one wake-up ramps the whole pool, each process waking the next.
            self._broker.wake(self._queue)
        return claimed

    def _limits(self) -> dict[str, int]:
        """Return how many items of each kind this process can take now."""
        held = self._heartbeat.held()
        if any(task.item.crashes for run in held for task in run.tasks):
            return {}
        if held and time.monotonic() - self._alone_at > ALONE_EVERY_SECONDS:
            return {}
        return {name: handler.batch for name, handler in self._handlers.items() if len(held) < handler.slots}

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
                announce=self._announce_parts,
            )
            for item in claimed
        ]
        run = Run(claimed[0].lease_id, tasks, kind.run_limit, time.monotonic())
        self._heartbeat.hold(run)
        # A thread of its own, and a daemon: a hung engine must not keep the process from ending.
        threading.Thread(target=self._carry_out, args=(kind, run), name=f"run {kind.name}", daemon=True).start()

    def _wait(self) -> None:
        """Wait for a run to end or, while there is room for another, for a wake-up or for a gate to open."""
        if self._limits():
            pause = self._gates.pause(most=LONGEST_PAUSE)
            seconds = LOOK_SECONDS if pause is None else min(LOOK_SECONDS, max(SHORTEST_WAIT, pause.total_seconds()))
            self._broker.wait_for_wake(self._queue, seconds)
            return
        with self._ended:
            if self._heartbeat.held() and not self._stopping.is_set():
                self._ended.wait(LOOK_SECONDS)

    def _carry_out(self, kind: Kind[Any], run: Run) -> None:
        started = time.monotonic()
        try:
            outcomes = self._outcomes(self._handlers[kind.name], run.tasks)
            run.is_reported = True
            taken = self._database.run(lifecycle.report(run.lease_id, outcomes))
            ended = {item.job_id for item in taken if item.job_state}
            if kind.files:
                self._delete_uploads(ended)
            self._announce(ended)  # before what only we need: somebody waits for it
            self._observe(kind, run.tasks, outcomes, seconds=time.monotonic() - started)
            for item in taken:
                log.info("item reported", job_id=str(item.job_id), item=item.item_id, job_state=item.job_state)
        except PressroomError as error:
            # The lease runs out, and somebody does the work again.
            log.error("report not written", error=error.message, items=len(run.tasks))
        finally:
            with self._ended:
                self._heartbeat.drop(run.lease_id)
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

    def _delete_uploads(self, ended: set[UUID]) -> None:
        for job_id in ended:
            try:
                self._artifacts.delete_upload(job_id)
            except PressroomError as error:
                log.warning("upload not deleted, the sweep will", job_id=str(job_id), error=error.message)

    def _announce(self, ended: set[UUID]) -> None:
        if ended:
            self._send(lambda pipe: add_notice(pipe, ended))

    def _announce_parts(self, job_id: UUID, parts: Parts) -> None:
        self._send(lambda pipe: add_part_notice(pipe, job_id, parts))

    def _send(self, fill: Callable[[Any], None]) -> None:
        """Send a notice; who does not hear it finds the same in the rows within a second."""
        pipe = self._broker.client.pipeline(transaction=False)
        fill(pipe)
        try:
            pipe.execute()
        except RedisError as error:
            log.warning("notice not sent", error=str(error))

    def _observe(
        self, kind: Kind[Any], tasks: Sequence[LeasedTask], outcomes: Sequence[lifecycle.Outcome], *, seconds: float
    ) -> None:
        for task, outcome in zip(tasks, outcomes, strict=True):
            labels = {"queue": self._queue, "kind": kind.name}
            self._metrics.count("pressroom_items_total", 1, outcome=outcome.outcome, **labels)
            self._metrics.observe("pressroom_item_wait_seconds", task.item.waited.total_seconds(), **labels)
            self._metrics.observe("pressroom_item_run_seconds", seconds / len(tasks), **labels)

    def _flush_metrics(self) -> None:
        try:
            self._metrics.flush(self._broker.client)
        except RedisError as error:
            log.warning("metrics not written", error=str(error))

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
            self._database.run(
                lifecycle.report(run.lease_id, [lifecycle.Outcome(task.item.item_id, "release") for task in run.tasks])
            )
            log.info("items given back", items=len(run.tasks))
        self._flush_metrics()
