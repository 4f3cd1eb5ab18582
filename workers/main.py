"""What dramatiq loads: `dramatiq workers.main -Q synthesis -p 1 -t 1` serves the synthesis queue with one process."""

import os
import signal
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import dramatiq
from dramatiq import Broker, Middleware, Worker

from pipeline import log
from pipeline.database import Database
from pipeline.operations.child_processes import die_with_parent, take_once
from pipeline.operations.metrics import Metrics
from pipeline.operations.processes import ProcessReporter
from pipeline.registry import load_kinds, queues
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from pipeline.wakes.broker import WakeBroker, actor_name, connect
from workers.engines import malloc
from workers.engines.resources import Resources
from workers.pool.handlers import load_handlers
from workers.pool.leaving import leave_when_idle
from workers.pool.run import Runner

#: Statements that the runs of a process send at once, such as a look for a fresh answer.
MOST_OF_RUNS = 4


class Pools(Middleware):
    """The runners of this process, one a queue, each made at its first look."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kinds = load_kinds(settings)
        self._resources = Resources(settings)
        self._runners: dict[str, Runner] = {}
        self._is_alone = False
        self._is_stopping = False
        self._end_telling: Callable[[], None] = lambda: None

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        """Find out whether this process serves one queue alone; then it waits for its wake-ups by itself."""
        self._is_alone = len(worker.consumer_whitelist or broker.get_declared_queues()) == 1

    def after_worker_boot(self, broker: Broker, worker: Worker) -> None:
        """Tell operators of this process from now on."""
        if isinstance(broker, WakeBroker):
            if self._settings.small:
                leave_when_idle(lambda: any(runner.is_busy() for runner in list(self._runners.values())))
            self._end_telling = ProcessReporter(lambda: ", ".join(self._runners) or "starting").start(broker.client)

    def before_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        """Stop, where no signal's handler did: it came before this module was loaded, or was not SIGTERM."""
        self.stop()

    def stop(self) -> None:
        """Claim nothing more, and finish or give back what is held; called by SIGTERM's handler.

        Dramatiq's own stop comes up to a second later. It never comes where the master was killed while it waited for
        this worker to start: the worker's main thread then waits for it for ever (multiprocessing.Event)."""
        if self._is_stopping:
            return
        self._is_stopping = True  # first, for a runner that is just being made
        for runner in list(self._runners.values()):
            runner.stop()

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        """Tell that it ends."""
        self._end_telling()

    def declare(self, broker: WakeBroker) -> None:
        """Declare the one actor of each queue."""
        for queue in queues(self._kinds):
            self._declare(broker, queue)

    def _declare(self, broker: WakeBroker, queue: str) -> None:
        def work(*_: Any) -> None:
            if queue not in self._runners:
                self._runners[queue] = self._make_runner(broker, queue)
            runner = self._runners[queue]
            if self._is_stopping:  # while this process still started
                runner.stop()
            # A message's way through Dramatiq's threads would take as long as a claim.
            runner.serve() if self._is_alone else runner.drain()

        dramatiq.actor(broker=broker, actor_name=actor_name(queue), queue_name=queue)(work)

    def _make_runner(self, broker: WakeBroker, queue: str) -> Runner:
        settings = self._settings
        database_url, _ = settings.server_urls()
        handlers = load_handlers(self._kinds, queue, self._resources)
        slots = max(handler.slots for handler in handlers.values())
        database = Database(
            database_url,
            # One for reports and claims, one for the heartbeat, and some for the runs, whose own take a millisecond.
            connections=min(slots, MOST_OF_RUNS) + 2,
            patience=timedelta(seconds=settings.work.lease_seconds * 2 / 3),
            prepare=settings.database.prepare,
        )
        database.open()
        return Runner(
            queue,
            self._kinds,
            handlers,
            database=database,
            broker=broker,
            artifacts=Artifacts(open_store(settings)),
            settings=settings,
            metrics=Metrics(),
        )


# Before any library of the Hugging Face hub is imported: nobody is told what runs here.
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
malloc.use_one_arena()
_settings = Settings()
log.write_directly()
log.configure(_settings)
_pools = Pools(_settings)
take_once(signal.SIGTERM, also=_pools.stop)
die_with_parent()
broker = WakeBroker(connect(_settings.server_urls()[1]), middleware=[_pools])
dramatiq.set_broker(broker)
_pools.declare(broker)
