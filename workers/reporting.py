"""Reporting: what became of a run is written to its items, and told to whoever waits for it."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from redis.exceptions import RedisError

from pipeline import lifecycle
from pipeline.artifacts import Artifacts
from pipeline.broker import WakeBroker
from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.kind import Kind
from pipeline.log import get_logger
from pipeline.metrics import Metrics
from pipeline.notices import add_notice
from pipeline.streams import Parts, add_part_notice
from workers.heartbeat import Run

log = get_logger(__name__)


class Reporter:
    """Writes the reports of one queue's runs, notices and metrics among them."""

    def __init__(
        self, queue: str, *, database: Database, broker: WakeBroker, artifacts: Artifacts, metrics: Metrics
    ) -> None:
        self._queue = queue
        self._database = database
        self._broker = broker
        self._artifacts = artifacts
        self._metrics = metrics

    def report(self, kind: Kind[Any], run: Run, outcomes: Sequence[lifecycle.Outcome], *, seconds: float) -> None:
        """Write what became of a run that took so long. Raises PressroomError when it can't be written."""
        taken = self._database.run(lifecycle.report(run.lease_id, outcomes))
        ended = {item.job_id for item in taken if item.job_state}
        if kind.files:
            self._delete_uploads(ended)
        if ended:
            self._send(lambda pipe: add_notice(pipe, ended))  # before what only we need: somebody waits for it
        self._observe(kind, run, outcomes, seconds=seconds)
        for item in taken:
            log.info("item reported", job_id=str(item.job_id), item=item.item_id, job_state=item.job_state)

    def give_back(self, run: Run) -> None:
        """Release a run's items: another process goes on with them."""
        outcomes = [lifecycle.Outcome(task.item.item_id, "release") for task in run.tasks]
        self._database.run(lifecycle.report(run.lease_id, outcomes))
        log.info("items given back", items=len(run.tasks))

    def announce_parts(self, job_id: UUID, parts: Parts) -> None:
        """Tell that parts of a stream are there."""
        self._send(lambda pipe: add_part_notice(pipe, job_id, parts))

    def flush_metrics(self) -> None:
        """Write what was counted since the last time."""
        try:
            self._metrics.flush(self._broker.client)
        except RedisError as error:
            log.warning("metrics not written", error=str(error))

    def _delete_uploads(self, ended: set[UUID]) -> None:
        for job_id in ended:
            try:
                self._artifacts.delete_upload(job_id)
            except PressroomError as error:
                log.warning("upload not deleted, the sweep will", job_id=str(job_id), error=error.message)

    def _send(self, fill: Callable[[Any], None]) -> None:
        """Send a notice; who does not hear it finds the same in the rows within a second."""
        pipe = self._broker.client.pipeline(transaction=False)
        fill(pipe)
        try:
            pipe.execute()
        except RedisError as error:
            log.warning("notice not sent", error=str(error))

    def _observe(self, kind: Kind[Any], run: Run, outcomes: Sequence[lifecycle.Outcome], *, seconds: float) -> None:
        labels = {"queue": self._queue, "kind": kind.name}
        for task, outcome in zip(run.tasks, outcomes, strict=True):
            self._metrics.count("pressroom_items_total", 1, outcome=outcome.outcome, **labels)
            self._metrics.observe("pressroom_item_wait_seconds", task.item.waited.total_seconds(), **labels)
            self._metrics.observe("pressroom_item_run_seconds", seconds / len(run.tasks), **labels)
