"""Failures: jobs that ended badly, grouped by reason; a group can be tried again at once."""

from uuid import UUID

import falcon.asgi

from api.dashboard.forms import read_form
from api.dashboard.page import NavigationSection, Page
from api.dashboard.pages.operators.queues import PERIOD, PERIODS
from api.dashboard.rendering import redirect, render
from api.http.request_context import context_of
from api.jobs.job_retries import retry_job
from api.services.resource import Resource
from pipeline.accounts.keys import find_payer
from pipeline.errors import InvalidRequest, PressroomError
from pipeline.lifecycle.jobs import find_job
from pipeline.log import get_logger
from pipeline.operations.failures import MOST_JOBS, MOST_RETRIED, list_failed, read_failures, retry_key

log = get_logger(__name__)

PAGE = Page(
    "/dashboard/operators/failures",
    "Failures",
    NavigationSection.OPERATORS,
    operators_only=True,
    order=4,
    icon="triangle-alert",
)


class Failures(Resource):
    """GET /dashboard/operators/failures."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with the groups."""
        period = PERIOD.read(req)
        groups = await self._services.database.run(read_failures(PERIODS[period]))
        await render(
            req,
            resp,
            "operators/failures.html",
            groups=groups,
            period=period,
            periods=list(PERIODS),
            most_jobs=MOST_JOBS,
            most_retried=MOST_RETRIED,
        )

    on_head = on_get


class GroupRetry(Resource):
    """POST /dashboard/operators/failures/retry."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Ask again for what the jobs of a group did not deliver, each for its own account."""
        session = await self._services.sessions.require_operator(req, resp)
        form = await read_form(req, session)
        period, kind, code = form.text("period"), form.text("kind"), form.text("code")
        if period not in PERIODS:
            raise InvalidRequest(f"There is no period {period[:20]!r}; there is {', '.join(PERIODS)}.")
        wanted = await self._services.database.run(list_failed(PERIODS[period], kind=kind, code=code))
        refusals: dict[str, int] = {}
        for job_id in wanted:
            if refused := await self._retry(req, job_id):
                refusals[refused] = refusals.get(refused, 0) + 1
        done = len(wanted) - sum(refusals.values())
        log.info("group tried again", kind=kind, code=code, jobs=done, refused=refusals, by=str(session.account_id))
        reasons = "".join(f" {number} not: {reason}." for reason, number in refusals.items())
        text = f"{done} of {len(wanted)} jobs were asked for again.{reasons}"
        redirect(req, resp, f"{PAGE.path}?period={period}", text, "good" if done else "bad")

    async def _retry(self, req: falcon.asgi.Request, job_id: UUID) -> str:
        """Ask again for one job; returns the code of what refused it, or nothing.

        Its key stands for this job, so that a group that is tried twice is charged once."""
        job = await self._services.database.run(find_job(job_id))
        if job is None:
            return "job_not_found"
        context = context_of(req)
        headers = dict(context.headers)
        try:
            caller = await self._services.database.run(find_payer(job.account_id, job.api_key_id, route=job.route))
            if caller is None:
                return "no_valid_key"
            await retry_job(self._services, caller, job, context=context, idempotency_key=retry_key(job.id))
        except PressroomError as error:
            return error.code
        finally:
            # The limits in the answer's headers are not the operator's.
            context.headers.clear()
            context.headers.update(headers)
        return ""


RESOURCES = {PAGE.path: Failures, f"{PAGE.path}/retry": GroupRetry}
