"""Manual worker: one that claims and reports when its test says so."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import redis

from pipeline.database import Database, Statement
from pipeline.lifecycle import ClaimedItem, Outcome, cancel, claim, report
from pipeline.wakes import notices

LEASE = timedelta(seconds=30)
KINDS = {"echo": 8, "many": 1_000, "files": 8}

Do = Callable[[ClaimedItem], Outcome]


def deliver(item: ClaimedItem) -> Outcome:
    """Do all that was asked."""
    return Outcome(item.item_id, "done", item.price, {"input": item.input}, engine="made-up")


def refuse(item: ClaimedItem) -> Outcome:
    """Fail for good."""
    error = {"status": 400, "error": "Invalid Request", "message": "It can't be done.", "code": "cannot_be_done"}
    return Outcome(item.item_id, "failed", 0, error=error)


def cancel_open_jobs(database: Database) -> None:
    """End what earlier tests left undone, in whatever state: files share a database, and a claim takes the oldest."""
    read: Statement[list[UUID]] = Statement(
        "SELECT id FROM job WHERE finished_at IS NULL", {}, lambda rows: [row["id"] for row in rows]
    )
    for job_id in database.run(read):
        database.run(cancel(job_id, None))


@dataclass
class ManualWorker:
    """A worker: it claims what there is when it is told to."""

    database: Database
    client: "redis.Redis"
    lanes: dict[str, int] = field(default_factory=lambda: dict(KINDS))
    stopped: threading.Event = field(default_factory=threading.Event)

    def work(self, do: Do = deliver, *, tell: bool = True) -> list[UUID]:
        """Take one claim of `lanes` and report it; returns the jobs that it ended."""
        items = self.database.run(claim(self.lanes, lease_for=LEASE))
        if not items:
            return []
        taken = self.database.run(report(items[0].lease_id, [do(item) for item in items]))
        ended = list({one.job_id for one in taken if one.job_state is not None})
        if tell and ended:
            notices.add_notice(self.client, ended)
        return ended

    def work_until_done(self, do: Do = deliver, *, tell: bool = True) -> None:
        """Work until something was ended; for a request that is just being made in another thread."""
        while not self.stopped.is_set():
            if self.work(do, tell=tell):
                return
            self.stopped.wait(0.01)
