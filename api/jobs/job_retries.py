"""Job retries: what an ended job did not deliver is asked for again, as a new job."""

from dataclasses import replace
from datetime import timedelta

import falcon.asgi

from api.http.operations import LOCATION, Operation, Reply
from api.http.parameters import IDEMPOTENCY_KEY
from api.http.request_context import RequestContext, context_of
from api.jobs.job_resources import TAG, JobNotFinished, find_own_job
from api.services.resource import Resource, read_sent
from api.services.services import Services
from api.work.answers import name_job, refuse_gone, show_json
from api.work.preferences import read_idempotency_key
from api.work.submitting import Order, submit_order
from pipeline.accounts.keys import Caller
from pipeline.errors import Conflict
from pipeline.jobs.job_documents import JobDocument, job_document
from pipeline.jobs.resubmit import resubmission
from pipeline.lifecycle.jobs import Job


class JobRetry(Resource):
    """POST /jobs/{id}/retry."""

    @Operation(
        id="post_job_retry",
        tag=TAG,
        summary="Retry what an ended job did not deliver, as a new job at the same price.",
        parameters=(IDEMPOTENCY_KEY,),
        replies={
            202: Reply("The new job. While it runs, the same retry returns it again.", JobDocument, headers=LOCATION)
        },
        errors=(402, 409, 410, 422),
    )
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        caller, _ = await read_sent(self._services, req, any_type=True)
        job = await find_own_job(self._services, caller, job_id)
        repeated, available = await retry_job(
            self._services, caller, job, context=context_of(req), idempotency_key=read_idempotency_key(req)
        )
        name_job(self._services, resp, repeated, available)
        resp.set_header("Location", f"/jobs/{repeated.id}")
        show_json(resp, job_document(repeated, self._services.kinds), 202)


async def retry_job(
    services: Services, caller: Caller, job: Job, *, context: RequestContext, idempotency_key: str | None = None
) -> tuple[Job, int | None]:
    """Ask again for what an ended job did not deliver, at the same price; returns the new job and the balance.

    While that runs, a further retry is the same job. Raises JobNotFinished, Gone, Conflict, and what a new
    request is refused with."""
    refuse_gone(job)
    if not job.is_final:
        raise JobNotFinished(f"The job is {job.state}, and only ended jobs can be retried. Cancel it, or wait.")
    kind = services.kinds.get(job.kind)
    submission = await services.database.run(resubmission(job, kind, services.settings)) if kind else None
    if kind is None or submission is None:
        raise Conflict(
            f"Nothing of this job can be tried again: of {job.items_total:,} {kind.unit if kind else 'items'}"
            f" {job.items_ok:,} were delivered, and uploaded files are deleted when their job ends."
            f" To make everything again, send the request to {job.route} again.",
            code="nothing_to_retry",
        )
    submission = replace(
        submission,
        api_key_id=caller.api_key_id,
        request_id=context.request_id,
        idempotency_key=idempotency_key,
        idempotency_window=timedelta(hours=services.settings.limits.idempotency_hours),
        joins_open=True,
    )
    order = Order(caller, kind.counts_again(len(submission.items)), kind.queue, submission)
    submitted = await submit_order(services, order, context, alone=True)
    return await find_own_job(services, caller, str(submitted.job_id)), submitted.available
