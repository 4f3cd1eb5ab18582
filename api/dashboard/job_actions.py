"""Job actions: retry, cancel or delete selected jobs one by one, and report the outcome."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import falcon.asgi

from api.http.request_context import context_of
from api.jobs.job_changes import cancel_job, delete_job
from api.jobs.job_resources import JobNotFound, find_own_job, read_job_id
from api.jobs.job_retries import retry_job
from api.services.services import Services
from pipeline import lifecycle
from pipeline.accounts.sessions import Session
from pipeline.errors import Conflict, InvalidRequest, PressroomError

#: Most jobs changed at once: those of one page.
MOST_JOBS = 100
#: Reasons by error code, in the words of pages.
REASONS = {
    "job_not_found": "This job does not exist.",
    "job_not_finished": "It is still running; cancel it first.",
    "nothing_to_retry": "Everything was delivered, or the job's files are deleted.",
    "result_deleted": "It was deleted.",
    "result_expired": "The request has expired.",
}


#: Why a job is not kept.
NOT_KEPT = {
    "open": "It is still running. Keep it when it has ended.",
    "gone": "Its result has been deleted already.",
    "too_many": "Your account keeps {most:,} already. Let another one go first.",
}


@dataclass
class ActionDone:
    """The outcome of an action: the jobs changed (for a retry, the new ones), and the reasons for the others."""

    jobs: list[str] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)


Action = Callable[[str], Awaitable[str]]


class JobActions:
    """Actions by name; each takes a job's id and returns the id of the job to show."""

    def __init__(self, services: Services, req: falcon.asgi.Request, session: Session, *, once: str) -> None:
        self._services = services
        self._context = context_of(req)
        self._caller = session.caller
        self._once = once  # identifies the page: its form sent twice is one retry
        self.by_name: dict[str, Action] = {"retry": self._retry, "cancel": self._cancel, "delete": self._delete}
        self.by_name |= {"keep": partial(self._keep, keeps=True), "let go": partial(self._keep, keeps=False)}

    async def carry_out(self, name: str, job_ids: Sequence[str]) -> ActionDone:
        action = self.by_name.get(name)
        if action is None:
            message = f"{name[:60]!r} can't be done with jobs; choose {', '.join(self.by_name)}."
            raise InvalidRequest(message, code="action_unknown")
        done = ActionDone()
        for job_id in list(dict.fromkeys(job_ids))[:MOST_JOBS]:
            try:
                done.jobs.append(await action(job_id))
            except PressroomError as error:
                done.refusals[REASONS.get(error.code, error.message)] += 1
        return done

    async def _retry(self, job_id: str) -> str:
        job = await find_own_job(self._services, self._caller, job_id)
        key = f"dashboard {self._once} {job.id}" if self._once else None
        again, _ = await retry_job(self._services, self._caller, job, context=self._context, idempotency_key=key)
        return str(again.id)

    async def _cancel(self, job_id: str) -> str:
        job = await cancel_job(self._services, self._caller, read_job_id(job_id))
        if job.state != "cancelled":
            raise Conflict("It had ended already.", code="job_has_ended")
        return str(job.id)

    async def _delete(self, job_id: str) -> str:
        await delete_job(self._services, self._caller, read_job_id(job_id))
        return job_id

    async def _keep(self, job_id: str, *, keeps: bool) -> str:
        settings = self._services.settings.limits
        most = getattr(settings, self._caller.tier).kept_jobs
        refusal = await self._services.database.run(
            lifecycle.keep(read_job_id(job_id), self._caller.account_id, keeps=keeps, most=most)
        )
        if refusal == "missing":
            raise JobNotFound
        if refusal is not None:
            message = NOT_KEPT[refusal].format(most=most)
            raise Conflict(message, code="job_not_kept")
        return job_id


#: Words for a completed action.
SAID = {
    "retry": "retried",
    "cancel": "cancelled",
    "delete": "deleted",
    "keep": "kept until you delete it",
    "let go": "left to expire",
}


def say(name: str, done: ActionDone) -> str:
    """Return the result of an action, in words."""
    count = len(done.jobs)
    words = [f"{count:,} {'job' if count == 1 else 'jobs'} {SAID[name]}."]
    words += [f"{number:,} not {SAID[name]}: {message}" for message, number in done.refusals.most_common(3)]
    if not count and not done.refusals:
        return "No job was selected."
    return " ".join(words if count else words[1:])
