"""Reporting: writes the outcomes of runs to their items, and notifies those who wait."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import psycopg

from pipeline import lifecycle
from pipeline.database import Database, Statement
from pipeline.errors import PressroomError
from pipeline.kind import AnyKind
from pipeline.lifecycle import ClaimedItem, Taken
from pipeline.log import get_logger
from pipeline.marks.receipts import PROVENANCE
from pipeline.operations.metrics import TOKENS, Metrics
from pipeline.storage.artifacts import Artifacts
from pipeline.storage.streams import Parts, add_part_notice
from pipeline.tracing.trace_context import Tracer
from pipeline.wakes.broker import WakeBroker, add_wake
from pipeline.wakes.notices import add_notice
from pipeline.wakes.outbox import Outbox
from workers.pool.heartbeat import Run

log = get_logger(__name__)

#: How long an ending process waits for Redis to take its last notices.
LAST_WORDS_SECONDS = 1.0
#: An outcome that can't be stored, such as a text with a NUL.
UNFIT = (psycopg.Error, ValueError, TypeError)


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that its handler has finished, its outcomes and its seconds."""

    kind: AnyKind
    run: Run
    outcomes: Sequence[lifecycle.Outcome]
    seconds: float


class Reporter:
    """Writes the reports, notices and metrics of one queue's runs."""

    def __init__(
        self,
        queue: str,
        *,
        database: Database,
        broker: WakeBroker,
        artifacts: Artifacts,
        metrics: Metrics,
        tracer: Tracer,
    ) -> None:
        self._queue = queue
        self._database = database
        self._broker = broker
        self._artifacts = artifacts
        self._metrics = metrics
        self._tracer = tracer
        self._outbox = Outbox(f"tell {queue}")
        #: The mark of this process's wake-ups.
        self.mark = uuid4().bytes

    def write(self, due: Sequence[Ended], *, then: Statement[list[ClaimedItem]] | None) -> lifecycle.ReportedAndClaimed:
        """Report runs and make the next claim, in one statement and one commit.

        Returns the items whose report counted, and the items claimed. Raises PressroomError if there is nothing to
        report and the claim fails."""
        if not due:
            return [], self._database.run(lifecycle.claim_alone(then)) if then else []
        report = lifecycle.report_together((one.run.lease_id, one.outcomes) for one in due)
        try:
            if then is None:
                return self._database.run(report), []
            return self._database.run(lifecycle.report_then_claim(report, then))
        except PressroomError as error:
            # The leases run out, and another process does the work again.
            log.error("reports not written", error=error.message, runs=len(due))
            return [], []
        except UNFIT:
            log.exception("reports refused, now one by one", runs=len(due))
            return [item for one in due for item in self._write_alone(one)], []

    def claim(self, claim: Statement[list[ClaimedItem]]) -> list[ClaimedItem]:
        """Make a claim after a report; returns nothing if the database is away."""
        try:
            return self._database.run(lifecycle.claim_alone(claim))
        except PressroomError as error:
            log.error("nothing claimed", error=error.message)
            return []

    def announce(self, taken: Sequence[Taken]) -> None:
        """Notify those who wait of the jobs that have ended."""
        if ended := {item.job_id for item in taken if item.job_state}:
            self._send(lambda pipe: add_notice(pipe, ended))

    def note(self, due: Sequence[Ended], taken: Sequence[Taken]) -> None:
        """Count and log reports, and delete uploads; nobody waits for this."""
        ended = {item.job_id for item in taken if item.job_state}
        self._delete_uploads({task.job_id for one in due if one.kind.has_uploads for task in one.run.tasks} & ended)
        for one in due:
            self._observe(one)
        for item in taken:
            log.info("item reported", job_id=str(item.job_id), item=item.item_id, job_state=item.job_state)

    def give_back(self, run: Run) -> None:
        """Release a run's items to another process."""
        outcomes = [lifecycle.Outcome(task.item.item_id, "release") for task in run.tasks]
        try:
            self._database.run(lifecycle.report(run.lease_id, outcomes))
        except PressroomError as error:
            log.error("items not given back, their lease runs out", error=error.message, items=len(run.tasks))
        else:
            log.info("items given back", items=len(run.tasks))

    def announce_parts(self, job_id: UUID, parts: Parts) -> None:
        """Announce new parts of a stream."""
        self._send(lambda pipe: add_part_notice(pipe, job_id, parts))

    def wake(self) -> None:
        """Wake another process of the pool."""
        self._send(lambda pipe: add_wake(pipe, self._queue, self.mark))

    def flush_metrics(self) -> None:
        """Write new counts; they are kept while Redis is away."""
        if not self._metrics.has_pending:
            return
        self._outbox.post(lambda: self._broker.try_to(self._metrics.flush))

    def close(self) -> None:
        """Return when all notices are sent, or Redis does not take them."""
        self._outbox.flush(within=LAST_WORDS_SECONDS)

    def _write_alone(self, ended: Ended) -> list[Taken]:
        """Write one run's report, so that an unfit outcome does not cost its neighbours theirs."""
        try:
            return self._database.run(lifecycle.report(ended.run.lease_id, ended.outcomes))
        except (PressroomError, *UNFIT):
            log.exception("report not written", items=len(ended.outcomes))
            return []

    def _delete_uploads(self, ended: set[UUID]) -> None:
        for job_id in ended:
            try:
                self._artifacts.delete_upload(job_id)
            except PressroomError as error:
                log.warning("upload not deleted, the sweep will", job_id=str(job_id), error=error.message)

    def _send(self, fill: Callable[[Any], None]) -> None:
        """Send a notice without waiting for Redis; those who miss it read the rows within a second."""
        self._outbox.post(lambda: self._broker.send(fill))

    def _observe(self, ended: Ended) -> None:
        tasks = ended.run.tasks
        for task, outcome in zip(tasks, ended.outcomes, strict=True):
            labels = {"queue": self._queue, "kind": task.item.kind}
            if outcome.error:
                log.info(
                    "item not done",
                    job_id=str(task.job_id),
                    item=task.item_id,
                    outcome=outcome.outcome,
                    code=outcome.error.get("code"),
                )
            self._metrics.count("pressroom_items_total", 1, outcome=outcome.outcome, **labels)
            self._metrics.observe("pressroom_item_wait_seconds", task.item.waited.total_seconds(), **labels)
            self._metrics.observe("pressroom_item_run_seconds", ended.seconds / len(tasks), **labels)
            for engine, count in (outcome.output or {}).get(PROVENANCE, {}).get("tokens", {}).items():
                for use, number in count.items():
                    self._metrics.count(TOKENS, number, engine=engine, use=use)
            if self._tracer.is_on:
                self._trace(task.item, ended, outcome)

    def _trace(self, item: ClaimedItem, ended: Ended, outcome: lifecycle.Outcome) -> None:
        """Trace how long an item waited and ran, under its request."""
        about: dict[str, Any] = {"pressroom.job.id": str(item.job_id), "pressroom.item.id": item.item_id}
        self._tracer.work(
            item.request_id, f"wait {item.kind}", ago=ended.seconds, seconds=item.waited.total_seconds(), **about
        )
        about |= {"messaging.destination.name": self._queue, "pressroom.outcome": outcome.outcome}
        self._tracer.work(item.request_id, f"run {item.kind}", ago=0.0, seconds=ended.seconds, **about)
