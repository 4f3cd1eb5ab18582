"""The program of a pool's process: serves queues until it is told to stop."""

import os
import signal
from collections.abc import Callable, Sequence
from datetime import timedelta
from queue import SimpleQueue
from typing import Any, NoReturn

import dramatiq
from dramatiq import Broker, Middleware, Worker

from pipeline import log
from pipeline.database import Database
from pipeline.errors import NotFound
from pipeline.operations.child_processes import die_with_parent
from pipeline.operations.metrics import Metrics
from pipeline.operations.processes import ProcessReporter
from pipeline.operations.supervision import is_supervised
from pipeline.registry import load_kinds, queues
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from pipeline.wakes.broker import WakeBroker, actor_name, connect
from workers.engines import malloc, prepared
from workers.engines.endpoints.watch import EndpointWatch
from workers.engines.resources import Resources
from workers.pool.handlers import load_handlers
from workers.pool.resting import rest_when_idle
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
            is_restarted = self._settings.small or is_supervised()
            rest = timedelta(minutes=self._settings.work.rest_minutes) if is_restarted else None
            rest_when_idle(lambda: max((one.busy_at() for one in list(self._runners.values())), default=0.0), rest)
            reporter = ProcessReporter(lambda: ", ".join(self._runners) or "starting", self._settings)
            self._end_telling = reporter.start(broker.client)

    def before_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        """Claim nothing more, and finish or give back what is held."""
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


def open_broker(settings: Settings) -> WakeBroker:
    """Return the broker that serves the queues of all kinds."""
    pools = Pools(settings)
    broker = WakeBroker(connect(settings.server_urls()[1]), middleware=[pools])
    pools.declare(broker)
    return broker


def serve(settings: Settings, names: Sequence[str]) -> NoReturn:
    """Serve queues, each in a thread of its own, until SIGTERM or SIGINT. Raises NotFound."""
    # Before the Hugging Face hub's library is imported, which would send telemetry.
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    malloc.use_one_arena()
    prepared.keep_in(settings.data.absolute())
    log.configure(settings)
    told: SimpleQueue[int] = SimpleQueue()  # whose put may interrupt its get, and itself; an Event's lock may not
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: told.put(number))
    die_with_parent()
    broker = open_broker(settings)
    if unknown := set(names) - broker.get_declared_queues():
        raise NotFound(f"There is no queue {min(unknown)}; choose {', '.join(sorted(broker.get_declared_queues()))}.")
    worker = Worker(broker, queues={*names}, worker_threads=len(names))
    worker.start()
    told.get()
    worker.stop(timeout=settings.work.drain_seconds * 1_000)
    # Without the interpreter's end, which libraries do not survive in which an engine still computes.
    os._exit(0)
