"""Run: claim items, hand them to their handler, report what became of them."""

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from datetime import timedelta
from functools import partial
from typing import Any

from pipeline.database import Database, Statement
from pipeline.errors import NotReady, PressroomError
from pipeline.lifecycle import ClaimedItem
from pipeline.log import get_logger
from pipeline.offers.offers import publish_offers
from pipeline.operations.metrics import Metrics
from pipeline.registry import Kinds, lanes_of
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts
from pipeline.tracing.tracing import open_tracer
from pipeline.wakes.broker import LOOK_EVERY_SECONDS, WakeBroker
from workers.engines.thread_pool import ThreadPool
from workers.handler import Handler, UsesDatabase, Watchable
from workers.pool.carrying import Carrier
from workers.pool.claiming import Claimer
from workers.pool.heartbeat import Heartbeat, Run
from workers.pool.late_handlers import LateHandlers
from workers.pool.reporting import Ended, Reporter
from workers.pool.rounds import Rounds

log = get_logger(__name__)

#: How often a busy process looks by itself, in seconds.
LOOK_SECONDS = 0.25
#: A gate that opens so soon is waited for here, and no item with it; later ones are found by the next look.
LONGEST_PAUSE = timedelta(seconds=1)
#: How long giving back may take on a busy machine.
GIVE_BACK_SECONDS = 1.5
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
        """Claim nothing more; `drain` and `serve` return when what is held has ended, or was given back."""
        with self._changed:
            if not self._stopped.done():
                self._stopped_at = time.monotonic()
                self._stopped.set_result(None)
            self._changed.notify_all()

    def drain(self) -> None:
        """Work until nothing is due; the first call sets the engines up."""
        self._work(stays=False)

    def serve(self) -> None:
        """Work until `stop`, and wait for wake-ups while nothing is due; the first call sets the engines up."""
        self._work(stays=True)

    def _work(self, *, stays: bool) -> None:
        """Have a thread look for work, which may be in a handler's hands when this one is told to stop."""
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
            was_busy = bool(self._heartbeat.held())  # asked first: what ends meanwhile leaves room unclaimed
            # Where there is one slot, the thread that looks carries the work out as well. With more it goes on looking.
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
        """Report what has ended and claim what comes next; returns whether there may be more to claim.

        Whoever ends a run makes the round, for all that have ended meanwhile: a report and a claim for each would be
        two commits, and all reports of a job wait for its row. One of the runs that begin is left in `mine`, where that
        is given, and carried out by the thread that asked: to hand it to another would take two changes between them.

        A claim goes with the report where work flows. Otherwise it most likely finds nothing, and comes after those who
        wait were told."""
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
        """Start the runs that the items of a claim make; returns how many."""
        runs = [self._carrier.make_run(items) for items in self._split(claimed)]
        for run in runs:
            self._heartbeat.hold(run)
        if runs and mine is not None:
            mine.append(runs[-1])
        for run in runs[:-1] if mine is not None else runs:
            self._threads.start(partial(self._carry_on, [run]))
        return len(runs)

    def _hand_on(self, mine: list[Run] | None) -> None:
        """Start in threads of their own what an earlier round has left to this one, which has another to make."""
        while mine:
            self._threads.start(partial(self._carry_on, [mine.pop()]))

    def _split(self, claimed: Sequence[ClaimedItem]) -> list[Sequence[ClaimedItem]]:
        """Return the runs that the items of a claim make."""
        size = self._claimer.claimed(claimed[0].lane if claimed else None, len(claimed))
        return [claimed[first : first + size] for first in range(0, len(claimed), size)]

    def _next_claim(self, due: Sequence[Ended]) -> Statement[list[ClaimedItem]] | None:
        """Return the claim to make beside what is held and not due. Raises what a gate raises, if nothing is due."""
        if self._stopped.done():
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

    def _wait(self) -> None:
        """Wait for room or, while there is some, for a wake-up or for a gate to open."""
        if self._claimer.room(self._heartbeat.held()):
            pause = self._claimer.pause(most=LONGEST_PAUSE)
            self._wait_for_wake(LOOK_SECONDS if pause is None else min(LOOK_SECONDS, pause.total_seconds()))
            return
        with self._changed:
            if self._heartbeat.held() and not self._stopped.done():
                self._changed.wait(LOOK_SECONDS)

    def _wait_for_wake(self, seconds: float) -> None:
        # What this process has sent to others was sent before its last look, which found nothing more.
        self._broker.wait_for_wake(self._queue, max(SHORTEST_WAIT, seconds), but=self._reporter.mark)
        self._claimer.wake_again()  # this one may have been for more than we take

    def _carry_on(self, mine: list[Run]) -> None:
        """Carry a run out, and then each that the round after it leaves to this thread."""
        while mine:
            ended = self._carrier.carry_out(mine.pop(), self._handlers)
            with self._changed:
                self._due.append(ended)
            del ended  # what was done may hold pictures, and the next may take hours
            try:
                self._rounds.ask(mine)
            except PressroomError as error:
                log.error("nothing claimed", error=error.message)  # who looks asks again
            except Exception:
                log.exception("round failed", queue=self._queue)

    def _has_reported_all(self) -> bool:
        try:
            return self._rounds.ask(None) and not self._heartbeat.held()
        except PressroomError as error:
            log.error("not reported yet", error=error.message)
            return False

    def _give_back(self) -> None:
        """Wait for what is held, and release what is not done in time: another process goes on with it."""
        # Earlier than the process is ended: what is not given back waits for its lease and counts a crash.
        drain = self._settings.work.drain_seconds
        deadline = self._stopped_at + drain - max(0.25 * drain, GIVE_BACK_SECONDS)
        # A round that began before the stop may be claiming, so it is waited for as well.
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
