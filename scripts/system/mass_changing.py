"""Mass changing: the sweep's part of a change of all jobs of a filter, a transaction for each job."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import UUID

from pipeline import lifecycle
from pipeline.accounts.keys import find_payer
from pipeline.database import Database
from pipeline.jobs.resubmit import resubmission
from pipeline.lifecycle.jobs import FINAL_STATES, find_job
from pipeline.log import get_logger
from pipeline.operations.failures import retry_key
from pipeline.operations.mass_changes import MassChange, Outcome, find_page, keep_change, note_page, take_change
from pipeline.registry import Kinds
from pipeline.settings import Settings
from pipeline.wakes.broker import WakeBroker

log = get_logger(__name__)

#: How often a change that goes on is kept from other sweeps, in seconds.
KEEP_EVERY = 5.0


@dataclass(frozen=True, slots=True)
class MassChanging:
    """Carries changes out. Done twice, after a crash, a page changes nothing more: retries have keys of their own."""

    database: Database
    broker: WakeBroker
    kinds: Kinds
    settings: Settings
    close: Callable[[UUID], None]

    def work(self) -> int:
        """Carry out one page of the oldest change; returns how many jobs it looked at."""
        change = self.database.run(take_change())
        if change is None:
            return 0
        page, outcome = self.database.run(find_page(change)), Outcome()
        act = {"cancel": self._cancel, "retry": self._retry}[change.action]
        kept_at = time.monotonic()
        for job_id in page.job_ids:
            if time.monotonic() - kept_at > KEEP_EVERY:
                if not self.database.run(keep_change(change)):
                    break
                kept_at = time.monotonic()
            if refused := act(job_id):
                outcome.refused[refused] = outcome.refused.get(refused, 0) + 1
            else:
                outcome.changed += 1
        self.database.run(note_page(change, page, outcome))
        self._tell(change, outcome)
        return page.looked_at

    def _tell(self, change: MassChange, outcome: Outcome) -> None:
        if outcome.changed or outcome.refused:
            log.info("jobs changed", action=change.action, jobs=outcome.changed, refused=outcome.refused)

    def _cancel(self, job_id: UUID) -> str:
        """Cancel a job; returns the code of what refused it, or nothing."""
        state = self.database.run(lifecycle.cancel(job_id, None))
        if state is None or state in FINAL_STATES:
            return "ended_meanwhile"
        self.close(job_id)
        return ""

    def _retry(self, job_id: UUID) -> str:
        """Submit what a job did not deliver again, for its own account; returns the code of what refused it."""
        job = self.database.run(find_job(job_id))
        kind = self.kinds.get(job.kind) if job else None
        if job is None or kind is None or job.is_gone:
            return "nothing_to_retry"
        submission = self.database.run(resubmission(job, kind, self.settings))
        if submission is None:
            return "nothing_to_retry"
        payer = self.database.run(find_payer(job.account_id, job.api_key_id, route=job.route))
        if payer is None:
            return "no_valid_key"
        again = replace(submission, api_key_id=payer.api_key_id, idempotency_key=retry_key(job.id), joins_open=True)
        submitted = self.database.run(lifecycle.submit(again))
        if submitted.outcome == "accepted":
            self.broker.wake(kind.queue)
            return ""
        return {"replayed": "retried_before", "insufficient": "insufficient_credits"}.get(
            submitted.outcome, submitted.outcome
        )
