"""Carrying out: runs the items of a claim in their handler."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from structlog.contextvars import bound_contextvars

from pipeline import lifecycle
from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.lifecycle import ClaimedItem
from pipeline.log import get_logger
from pipeline.registry import Kinds
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts
from pipeline.storage.streams import Parts
from workers.engines import Stopped
from workers.engines.tokens import Tokens, counting
from workers.handler import Failed, Handler, Outcome, Release
from workers.media.marks.marking import Marker
from workers.pool.heartbeat import Run
from workers.pool.outcomes import to_row, unforeseen, unless_passing
from workers.pool.reporting import Ended
from workers.task import Task

log = get_logger(__name__)


class Carrier:
    """Makes runs of claimed items, and carries them out in the calling thread."""

    def __init__(
        self,
        queue: str,
        kinds: Kinds,
        *,
        database: Database,
        artifacts: Artifacts,
        settings: Settings,
        announce: Callable[[UUID, Parts], None],
    ) -> None:
        self._queue = queue
        self._kinds = kinds
        self._database = database
        self._artifacts = artifacts
        self._result_hours = timedelta(hours=settings.retention.result_hours)
        self._lease_for = timedelta(seconds=settings.work.lease_seconds)
        self._announce = announce
        self._marker = Marker(settings.marks, database)

    def make_run(self, claimed: Sequence[ClaimedItem]) -> Run:
        """Return a run of items of one kind and lease; its time begins now."""
        kind = self._kinds[claimed[0].kind]
        tasks = [
            Task(
                item,
                kind.input,
                database=self._database,
                artifacts=self._artifacts,
                keep_for=kind.limits.keep_for or self._result_hours,
                lease_for=self._lease_for,
                announce=self._announce,
                marker=self._marker,
            )
            for item in claimed
        ]
        return Run(claimed[0].lease_id, tasks, kind.limits.run, time.monotonic(), kind.limits.stall)

    def carry_out(self, run: Run, handlers: Mapping[str, Handler[Any, Any]]) -> Ended:
        """Carry out a run; each task gets an outcome, whatever the handler raises or returns."""
        kind = self._kinds[run.tasks[0].item.kind]
        started = time.monotonic()
        with bound_contextvars(**run.log_fields):
            outcomes = self._outcomes(handlers[kind.name], run.tasks)
        run.is_reported = True
        return Ended(kind, run, outcomes, time.monotonic() - started)

    def _outcomes(self, handler: Handler[Any, Any], tasks: Sequence[Task[Any]]) -> list[lifecycle.Outcome]:
        try:
            # A handler of several tasks has each picture's tokens counted apart.
            with counting(tasks[0].tokens if len(tasks) == 1 else Tokens()):
                return _rows(tasks, handler.run(tasks))
        except Stopped:
            return _rows(tasks, [Release()] * len(tasks))
        except PressroomError as error:
            return _rows(tasks, [Failed(error)] * len(tasks))
        except Exception as error:  # a handler is a plug-in's code: it may raise anything
            log.exception("handler failed", queue=self._queue, items=len(tasks))
            if len(tasks) > 1:
                # One by one, so that none fails for its neighbour.
                return [self._outcomes(handler, [task])[0] for task in tasks]
            return _rows(tasks, [unforeseen(error, attempts=tasks[0].attempts)])


def _rows(tasks: Sequence[Task[Any]], outcomes: Sequence[Outcome[Any]]) -> list[lifecycle.Outcome]:
    return [
        to_row(
            task.item_id,
            task.price,
            unless_passing(outcome, attempts=task.attempts),
            hashes=task.hashes(),
            tokens=task.tokens,
        )
        for task, outcome in zip(tasks, outcomes, strict=True)
    ]
