"""Job changes: jobs cancelled and deleted by their account."""

import asyncio
from uuid import UUID

import falcon.asgi

from api.http.operations import Operation, Reply
from api.jobs.job_resources import TAG, JobNotFinished, JobNotFound, JobResource, find_own_job, read_job_id
from api.services.resource import Resource, read_sent
from api.services.services import Services
from api.work.answers import show_json
from pipeline import lifecycle
from pipeline.accounts.audit import Action, noted
from pipeline.accounts.keys import Caller
from pipeline.database import SQL
from pipeline.errors import PressroomError
from pipeline.jobs.job_documents import JobDocument, job_document
from pipeline.lifecycle.jobs import FINAL_STATES, Job
from pipeline.log import get_logger
from pipeline.wakes import notices
from pipeline.wakes.redis_away import REDIS_AWAY

log = get_logger(__name__)
#: The condition for a job to be erased.
_HAS_ENDED = SQL("state IN ({})").format(SQL(", ").join(FINAL_STATES))


async def cancel_job(services: Services, caller: Caller, job_id: UUID) -> Job:
    """Cancel a job and return it; an ended job is unchanged. Raises JobNotFound."""
    await _require_route(services, caller, job_id)
    cancelling = lifecycle.cancel(job_id, caller.account_id)
    state = await services.database.run(
        noted(cancelling, caller.actor, Action.JOB_CANCELLED, str(job_id), when="cancel IN ('queued', 'running')")
    )
    if state is None:
        raise JobNotFound
    services.waiting.tell([job_id])
    await _tell_others(services, job_id)
    job = await find_own_job(services, caller, str(job_id))
    await _delete_upload(services, job)
    return job


async def delete_job(services: Services, caller: Caller, job_id: UUID) -> None:
    """Delete the request and result of an ended job. Raises JobNotFound, JobNotFinished, ServiceUnavailable.

    The rows go first, so that nothing leads to a file being deleted. It is idempotent, and the sweep completes a
    deletion that broke off."""
    await _require_route(services, caller, job_id)
    erasing = lifecycle.erase(job_id, caller.account_id)
    first = noted(erasing, caller.actor, Action.JOB_DELETED, str(job_id), when=_HAS_ENDED)
    while True:
        erased = await services.database.run(first)
        first = erasing
        if erased.state is None:
            raise JobNotFound
        if erased.state not in FINAL_STATES:
            raise JobNotFinished(
                f"The job is {erased.state}, and only ended jobs can be deleted; "
                f"end it first with POST /jobs/{job_id}/cancel."
            )
        if not erased.goes_on:
            break
    await asyncio.to_thread(services.artifacts.delete_results, job_id)
    await asyncio.to_thread(services.artifacts.delete_upload, job_id)
    await services.database.run(lifecycle.erased(job_id))


class JobCancellation(Resource):
    """POST /jobs/{id}/cancel."""

    @Operation(
        id="post_job_cancel",
        tag=TAG,
        summary="Cancel a job at once. Undelivered work is not charged.",
        replies={200: Reply("The job. If it had already ended, it is unchanged.", JobDocument)},
    )
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        caller, _ = await read_sent(self._services, req, any_type=True)
        job = await cancel_job(self._services, caller, read_job_id(job_id))
        show_json(resp, job_document(job, self._services.kinds))


class ChangeableJob(JobResource):
    """GET and DELETE /jobs/{id}."""

    @Operation(
        id="delete_job",
        tag=TAG,
        summary="Delete the request, result and files of an ended job. Its summary and cost are kept.",
        replies={204: Reply("The job is deleted.")},
        errors=(409,),
    )
    async def on_delete(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        caller, _ = await read_sent(self._services, req, any_type=True)
        await delete_job(self._services, caller, read_job_id(job_id))
        resp.status = falcon.HTTP_204


async def _require_route(services: Services, caller: Caller, job_id: UUID) -> None:
    """Refuse a key that may not use the job's route. Raises JobNotFound."""
    if caller.routes is not None:
        await find_own_job(services, caller, str(job_id))


async def _delete_upload(services: Services, job: Job) -> None:
    kind = services.kinds.get(job.kind)
    if kind is None or not kind.has_uploads:
        return
    try:
        await asyncio.to_thread(services.artifacts.delete_upload, job.id)
    except PressroomError as error:
        log.warning("upload not deleted, the sweep will", job_id=str(job.id), error=error.message)


async def _tell_others(services: Services, job_id: UUID) -> None:
    pipe = services.client.pipeline(transaction=False)
    notices.add_notice(pipe, [job_id])
    try:
        await pipe.execute()
    except REDIS_AWAY as error:
        # Waiting requests elsewhere find out within a second.
        log.warning("notice not sent", job_id=str(job_id), error=str(error))
