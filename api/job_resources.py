"""Job resources: jobs listed, read and cancelled by their account."""

import asyncio
from datetime import timedelta
from uuid import UUID

import falcon.asgi
from redis.exceptions import RedisError

from api.answers import show_delivery, show_json
from api.auth import header_key
from api.bodies import parse_object, read_body, refuse_length
from api.documents import job_document
from api.queries import read_choice, read_text, read_whole, show_page
from api.resource import Resource
from api.services import Services
from pipeline import lifecycle, notices
from pipeline.errors import Conflict, NotFound, PressroomError
from pipeline.jobs import JOB_STATES, Job, find_delivery, find_job, list_jobs
from pipeline.keys import Caller
from pipeline.log import get_logger

log = get_logger(__name__)

#: Longest page of jobs (docs/api.md, Lists).
MAX_JOBS = 100
#: Longest request id that we take.
MAX_REQUEST_ID = 128


class JobNotFound(NotFound):
    """No job of this account has that id; whether another's has is not told."""

    code = "job_not_found"
    message = "There is no such job."


class JobNotFinished(Conflict):
    """The job has no result yet."""

    code = "job_not_finished"


def read_job_id(text: str) -> UUID:
    """Return a job id as it stands in a path. Raises JobNotFound."""
    try:
        job_id = UUID(text)
    except ValueError:
        raise JobNotFound from None
    if str(job_id) != text.lower():
        raise JobNotFound
    return job_id


async def find_own_job(services: Services, caller: Caller, job_id: str) -> Job:
    """Return a job of the caller's account. Raises JobNotFound."""
    job = await services.database.run(find_job(read_job_id(job_id), caller.account_id))
    if job is None:
        raise JobNotFound
    return job


class JobList(Resource):
    """GET /jobs."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with a page of the account's jobs, newest first."""
        caller = await self._services.authenticate_reader(req)
        kind = read_choice(req, "kind", list(self._services.kinds))
        state = read_choice(req, "state", JOB_STATES)
        request_id = read_text(req, "request_id", longest=MAX_REQUEST_ID)
        limit = read_whole(req, "limit", default=20, least=1, most=MAX_JOBS)
        offset = read_whole(req, "offset", default=0)
        page = await self._services.database.run(
            list_jobs(caller.account_id, kind=kind, state=state, request_id=request_id, limit=limit, offset=offset)
        )
        show_page(req, resp, limit=limit, offset=offset, total=page.total)
        show_json(resp, [job_document(job, self._services.kinds) for job in page.jobs])

    on_head = on_get


class JobResource(Resource):
    """GET /jobs/{id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        """Answer with the job."""
        caller = await self._services.authenticate_reader(req)
        job = await find_own_job(self._services, caller, job_id)
        show_json(resp, job_document(job, self._services.kinds))

    on_head = on_get


class JobResult(Resource):
    """GET /jobs/{id}/result."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        """Answer as the job's route answers a client that waits."""
        caller = await self._services.authenticate_reader(req)
        delivery = await self._services.database.run(find_delivery(read_job_id(job_id), caller.account_id))
        if delivery is None:
            raise JobNotFound
        if not delivery.job.is_final:
            raise JobNotFinished(
                f"The job is {delivery.job.state}; ask again, or follow /jobs/{delivery.job.id}/events.",
                retry_after=timedelta(seconds=1),
            )
        await show_delivery(self._services, resp, delivery)

    on_head = on_get


class JobCancellation(Resource):
    """POST /jobs/{id}/cancel."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        """End the job at once, and answer with it; one that had ended stays as it is."""
        services = self._services
        caller = await self._authenticate(req)
        wanted = read_job_id(job_id)
        state = await services.database.run(lifecycle.cancel(wanted, caller.account_id))
        if state is None:
            raise JobNotFound
        services.waiting.tell([wanted])
        await self._tell_others(wanted)
        job = await find_own_job(services, caller, job_id)
        await self._delete_upload(job)
        show_json(resp, job_document(job, services.kinds))

    async def _authenticate(self, req: falcon.asgi.Request) -> Caller:
        """Return whose request it is; a key in a header is checked before the body is read."""
        services = self._services
        max_bytes = services.settings.api.max_json_bytes
        refuse_length(req, max_bytes)
        caller = await services.authenticate_reader(req) if header_key(req) else None
        body = await read_body(req, max_bytes=max_bytes)
        fields = parse_object(body) if body else {}
        return caller or await services.authenticate_reader(req, fields.get("api_key"))

    async def _delete_upload(self, job: Job) -> None:
        kind = self._services.kinds.get(job.kind)
        if kind is None or not kind.takes_files:
            return
        try:
            await asyncio.to_thread(self._services.artifacts.delete_upload, job.id)
        except PressroomError as error:
            log.warning("upload not deleted, the sweep will", job_id=str(job.id), error=error.message)

    async def _tell_others(self, job_id: UUID) -> None:
        pipe = self._services.client.pipeline(transaction=False)
        notices.add_notice(pipe, [job_id])
        try:
            await pipe.execute()
        except (RedisError, OSError) as error:
            # Those who wait elsewhere find out within a second.
            log.warning("notice not sent", job_id=str(job_id), error=str(error))
