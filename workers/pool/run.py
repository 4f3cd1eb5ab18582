"""Runner: claims items, hands them to their handler, and reports the outcomes."""

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from datetime import timedelta
from functools import partial
from typing import Any

import psycopg

from pipeline.database import Database, Statement
from pipeline.errors import NotReady, PressroomError
from pipeline.lifecycle import ClaimedItem
from pipeline.log import errors_logged, get_logger
from pipeline.offers.offers import publish_offers
from pipeline.operations.metrics import Metrics
from pipeline.registry import Kinds, lanes_of, owners_of
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts
from pipeline.tracing.tracing import open_tracer
from pipeline.wakes.broker import LOOK_EVERY_SECONDS, WakeBroker
from workers.engines.thread_pool import ThreadPool
from workers.handler import Handler
from workers.pool.carrying import Carrier
from workers.pool.claiming import Claimer
from workers.pool.handlers import LateHandlers
from workers.pool.heartbeat import Heartbeat, Run
from workers.pool.reporting import Ended, Reporter
from workers.pool.rounds import Rounds

log = get_logger(__name__)

#: How often a busy process looks for work without a wake-up, in seconds.
LOOK_SECONDS = 0.25
#: The longest wait for a gate here; the next look finds later ones.
LONGEST_PAUSE = timedelta(seconds=1)
#: Time for giving back, on a busy machine.
GIVE_BACK_SECONDS = 1.5
SHORTEST_WAIT = 0.005  # Redis takes a wait of 0 for one without an end


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
        self._settings = settings
        self._tracer = open_tracer(settings, queue)
        self._reporter = Reporter(
            queue, database=database, broker=broker, artifacts=artifacts, metrics=metrics, tracer=self._tracer
        )
        self._claimer = self._make_claimer()
        self._carrier = Carrier(
            queue,
            kinds,
            database=database,
            artifacts=artifacts,
            settings=settings,
            announce=self._reporter.announce_parts,
        )
        self._is_set_up = False
        self._threads = ThreadPool(f"run {queue}")
        self._rounds: Rounds[list[Run] | None] = Rounds(self._round)
        self._due: list[Ended] = []
        self._changed = threading.Condition()
        self._stopped: Future[None] = Future()
        self._stopped_at = 0.0
        self._heartbeat = Heartbeat(
            database,
            every=settings.work.heartbeat_seconds,
            lease_for=timedelta(seconds=settings.work.lease_seconds),
            after_beat=self._reporter.flush_metrics,
        )

    def setup(self) -> None:
        """Set up the handlers and publish their offers; kinds whose handler is not ready are not claimed."""
        for handler in {id(handler): handler for handler in self._handlers.values()}.values():
            handler.use(self._database)
            try:
                handler.setup()
            except NotReady as error:
                log.error("handler not ready", queue=self._queue, needs=error.message)
                self._handlers = self._late.set_aside(handler, self._handlers)
            self._publish(handler)
            handler.watch(partial(self._renew, handler))
        self._claimer = self._make_claimer()
        self._is_set_up = True
        log.info("pool process ready", queue=self._queue, kinds=sorted(self._handlers))

    def _make_claimer(self) -> Claimer:
        ready = {name: kind for name, kind in self._kinds.items() if name in self._handlers}
        lanes = {lane: self._handlers[kind.name] for lane, kind in lanes_of(ready).items()}
        wake = self._reporter.wake
        owners = owners_of(self._kinds)
        return Claimer(self._queue, lanes, owners=owners, database=self._database, wake=wake, settings=self._settings)

    def _renew(self, handler: Handler[Any, Any]) -> None:
        """Publish a handler's offers again, and set it up if it was not ready."""
        self._late.ask(handler)
        self._publish(handler)

    def _take_on(self) -> None:
        """Start to claim for handlers that have become ready."""
        if ready := self._late.take():
            self._handlers |= ready
            self._claimer = self._make_claimer()
            log.info("kinds ready now", queue=self._queue, kinds=sorted(ready))

    def _publish(self, handler: Handler[Any, Any]) -> None:
        try:
            self._database.run(publish_offers(handler.offers()))
        except PressroomError as error:
            log.warning("offers not published", queue=self._queue, error=error.message)

    def busy_at(self) -> float:
        """Return when it had work last, in monotonic seconds; 0: never."""
        return time.monotonic() if self._heartbeat.held() else self._heartbeat.dropped_at

    def stop(self) -> None:
        """Claim nothing more; `drain` and `serve` return when all runs have ended or been given back."""
        with self._changed:
            if not self._stopped.done():
                self._stopped_at = time.monotonic()
                self._stopped.set_result(None)
            self._changed.notify_all()

    def drain(self) -> None:
        """Work until nothing is due; the first call sets up the handlers."""
        self._work(stays=False)

    def serve(self) -> None:
        """Work until `stop`, waiting for wake-ups in between; the first call sets up the handlers."""
        self._work(stays=True)

    def _work(self, *, stays: bool) -> None:
        """Look for work in a thread of its own, because a handler may hold it when `stop` is called."""
        if not self._is_set_up:
            self.setup()
        looking = self._threads.submit(partial(self._look, stays=stays))
        wait([looking, self._stopped], return_when=FIRST_COMPLETED)
        if self._stopped.done():
            self._give_back()
        else:
            looking.result()

    def _look(self, *, stays: bool) -> None:
        self._claimer.wake_again()
        while not self._stopped.done():
            was_busy = bool(self._heartbeat.held())  # first: a run that ends meanwhile leaves room unclaimed
            # With one slot, this thread also carries the work out; with more, it goes on looking.
            mine: list[Run] | None = [] if self._claimer.is_single and self._late.is_empty else None
            is_looked = self._rounds.ask(mine)  # if not, another thread may be claiming now
            if mine:
                self._carry_on(mine)
                if not stays:
                    continue
            is_busy = was_busy or not is_looked or bool(self._heartbeat.held())
            if is_busy or self._claimer.pause(most=LONGEST_PAUSE) is not None:
                self._wait()
            elif stays:
                self._wait_for_wake(LOOK_EVERY_SECONDS)
            else:
                return

    def _round(self, mine: list[Run] | None) -> bool:
        """Report the runs that have ended and claim the next; returns whether there may be more to claim.

        One thread does so for all runs that have ended meanwhile: a report and a claim each would be two commits, and
        all reports of a job wait for its row. If `mine` is given, one new run is left in it for the calling thread,
        which saves two thread switches.

        While work flows, one statement reports and claims. Otherwise the claim probably finds nothing, so it follows
        the notices."""
        with self._changed:
            due, self._due = self._due, []
        self._hand_on(mine)
        ended = [one.run for one in due]
        started = 0
        self._take_on()
        try:
            claim = self._next_claim(due)
            goes_along = not due or self._claimer.is_flowing
            taken, claimed = self._reporter.write(due, then=claim if goes_along else None)
            self._reporter.announce(taken)
            if claim is not None:
                started = self._start(claimed if goes_along else self._reporter.claim(claim), mine)
            self._claimer.wake_another()
            self._reporter.note(due, taken)
        finally:
            self._let_go(ended, leaves_room=started < len(ended))
        return started > 0 and bool(self._claimer.room(self._heartbeat.held()))

    def _start(self, claimed: Sequence[ClaimedItem], mine: list[Run] | None) -> int:
        """Start the runs that a claim makes; returns how many."""
        runs = [self._carrier.make_run(items) for items in self._split(claimed)]
        for run in runs:
            self._heartbeat.hold(run)
        if runs and mine is not None:
            mine.append(runs[-1])
        for run in runs[:-1] if mine is not None else runs:
            self._threads.start(partial(self._carry_on, [run]))
        return len(runs)

    def _hand_on(self, mine: list[Run] | None) -> None:
        """Give runs that an earlier round left to this thread to other threads: it makes another round."""
        while mine:
            self._threads.start(partial(self._carry_on, [mine.pop()]))

    def _split(self, claimed: Sequence[ClaimedItem]) -> list[Sequence[ClaimedItem]]:
        """Return the items of each run that a claim makes."""
        size = self._claimer.claimed(claimed[0].lane if claimed else None, len(claimed))
        return [claimed[first : first + size] for first in range(0, len(claimed), size)]

    def _next_claim(self, due: Sequence[Ended]) -> Statement[list[ClaimedItem]] | None:
        """Return the claim to make beside the runs that go on."""
        if self._stopped.done():
            return None
        ended = [one.run for one in due]
        # A handler's gate is a plug-in's code, and the ended runs must be reported.
        with errors_logged(log, "nothing claimed", queue=self._queue):
            try:
                return self._claimer.next([run for run in self._heartbeat.held() if run not in ended])
            except PressroomError as error:
                log.error("nothing claimed", error=error.message)
        return None

    def _let_go(self, ended: Sequence[Run], *, leaves_room: bool) -> None:
        with self._changed:
            for run in ended:
                self._heartbeat.drop(run)
            if leaves_room:
                self._changed.notify_all()

    def _wait(self) -> None:
        """Wait for room; with room, for a wake-up or an open gate."""
        if self._claimer.room(self._heartbeat.held()):
            pause = self._claimer.pause(most=LONGEST_PAUSE)
            self._wait_for_wake(LOOK_SECONDS if pause is None else min(LOOK_SECONDS, pause.total_seconds()))
            return
        with self._changed:
            if self._heartbeat.held() and not self._stopped.done():
                self._changed.wait(LOOK_SECONDS)

    def _wait_for_wake(self, seconds: float) -> None:
        # Its own wake-ups do not count: it has looked since it sent them.
        self._broker.wait_for_wake(self._queue, max(SHORTEST_WAIT, seconds), but=self._reporter.mark)
        self._claimer.wake_again()  # this one may have been for more than we take

    def _carry_on(self, mine: list[Run]) -> None:
        """Carry out a run, then each that the following round leaves to this thread."""
        while mine:
            ended = self._carrier.carry_out(mine.pop(), self._handlers)
            with self._changed:
                self._due.append(ended)
            del ended  # it may hold pictures, and the next run may take hours
            try:
                self._rounds.ask(mine)
            except (PressroomError, psycopg.Error) as error:
                log.error("nothing claimed", error=str(error))  # the looking thread tries again

    def _has_reported_all(self) -> bool:
        try:
            return self._rounds.ask(None) and not self._heartbeat.held()
        except PressroomError as error:
            log.error("not reported yet", error=error.message)
            return False

    def _give_back(self) -> None:
        """Wait for the runs, and release those not done in time to another process."""
        # Before the process is killed: items not given back wait for their lease and count a crash.
        drain = self._settings.work.drain_seconds
        deadline = self._stopped_at + drain - max(0.25 * drain, GIVE_BACK_SECONDS)
        # A round that began before the stop may still be claiming.
        while not self._has_reported_all() and time.monotonic() < deadline:
            with self._changed:
                self._changed.wait(0.1)
        for run in self._heartbeat.held():
            for task in run.tasks:
                task.stop()
            self._reporter.give_back(run)
        self._reporter.flush_metrics()
        self._reporter.close()
        self._tracer.close()
