"""The module that dramatiq loads: `dramatiq workers.main -Q synthesis -p 1 -t 1` serves synthesis with one process."""

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
from workers.engines.endpoints.watch import EndpointWatch
from workers.engines.resources import Resources
from workers.pool.handlers import load_handlers
from workers.pool.leaving import leave_when_idle
from workers.pool.run import Runner

#: Statements that a process's runs send at once.
MOST_OF_RUNS = 4


class Pools(Middleware):
    """The runners of this process, one a queue, made when first needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kinds = load_kinds(settings)
        self._resources = Resources(settings)
        self._runners: dict[str, Runner] = {}
        self._watch: EndpointWatch | None = None
        self._is_alone = False
        self._is_stopping = False
        self._end_telling: Callable[[], None] = lambda: None

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        """Note whether this process serves one queue alone; then it waits for wake-ups by itself."""
        self._is_alone = len(worker.consumer_whitelist or broker.get_declared_queues()) == 1

    def after_worker_boot(self, broker: Broker, worker: Worker) -> None:
        """Start to report this process to operators."""
        if isinstance(broker, WakeBroker):
            if self._settings.small:
                leave_when_idle(lambda: max((one.busy_at() for one in list(self._runners.values())), default=0.0))
            reporter = ProcessReporter(lambda: ", ".join(self._runners) or "starting", self._settings)
            self._end_telling = reporter.start(broker.client)

    def before_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        """Stop, unless SIGTERM's handler did: the signal may have come before this module was loaded."""
        self.stop()

    def stop(self) -> None:
        """Claim nothing more, and finish or give back what is held; called by SIGTERM's handler.

        Dramatiq's own stop comes up to a second later, or never if the master was killed while this worker started."""
        if self._is_stopping:
            return
        self._is_stopping = True  # first, for a runner that is being made
        for runner in list(self._runners.values()):
            runner.stop()

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        """Report the end of this process."""
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
            # A message would take as long through Dramatiq's threads as a claim.
            runner.serve() if self._is_alone else runner.drain()

        dramatiq.actor(broker=broker, actor_name=actor_name(queue), queue_name=queue)(work)

    def _make_runner(self, broker: WakeBroker, queue: str) -> Runner:
        settings = self._settings
        database_url, _ = settings.server_urls()
        handlers = load_handlers(self._kinds, queue, self._resources)
        slots = max(handler.slots for handler in handlers.values())
        database = Database(
            database_url,
            # One for reports and claims, one for the heartbeat, some for the runs, which need them for a millisecond.
            connections=min(slots, MOST_OF_RUNS) + 2,
            patience=timedelta(seconds=settings.work.lease_seconds * 2 / 3),
            prepare=settings.database.prepare,
        )
        database.open()
        if self._watch is None:
            self._watch = EndpointWatch(settings, database)
            self._watch.start()
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


# Before the Hugging Face hub's library is imported, which would send telemetry.
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
