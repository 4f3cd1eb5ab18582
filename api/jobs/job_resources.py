"""Job resources: jobs listed and read by their account."""

import re
from datetime import timedelta
from uuid import UUID

import falcon.asgi

from api.http.queries import ParameterInvalid, read_choices, read_moment, read_text, read_whole, show_page
from api.services.resource import Resource
from api.services.services import Services
from api.work.answers import show_delivery, show_json
from pipeline.accounts.keys import Caller
from pipeline.errors import Conflict, NotFound
from pipeline.jobs.job_documents import job_document
from pipeline.jobs.job_lists import JobFilter, JobPage, list_jobs
from pipeline.lifecycle.jobs import JOB_STATES, Job, find_delivery, find_job
from pipeline.registry import Kinds

#: Longest page of jobs (docs/api.md, Lists).
MAX_JOBS = 100
#: Longest request id that we take.
MAX_REQUEST_ID = 128
#: Longest text that is looked for.
MAX_QUERY = 200
ID_PREFIX = re.compile(r"[0-9a-fA-F-]{4,36}")


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
    """Return a job of the caller's account, and of its key's routes. Raises JobNotFound."""
    job = await services.database.run(find_job(read_job_id(job_id), caller.account_id))
    if job is None or not caller.may_use(job.route):
        raise JobNotFound
    return job


def read_filter(req: falcon.asgi.Request, caller: Caller, kinds: Kinds) -> JobFilter:
    """Return which of the caller's jobs a query asks for. Raises ParameterInvalid."""
    id_prefix = read_text(req, "id", longest=36)
    if id_prefix is not None and not ID_PREFIX.fullmatch(id_prefix):
        raise ParameterInvalid("id", id_prefix, "send an id, or at least its first four digits.")
    return JobFilter(
        account_id=caller.account_id,
        kinds=read_choices(req, "kind", list(kinds)) or None,
        states=read_choices(req, "state", JOB_STATES) or None,
        routes=caller.routes,
        request_id=read_text(req, "request_id", longest=MAX_REQUEST_ID),
        id_prefix=id_prefix,
        since=read_moment(req, "from"),
        until=read_moment(req, "to", is_end=True),
        text=read_text(req, "q", longest=MAX_QUERY),
    )


async def find_jobs(services: Services, wanted: JobFilter, *, limit: int, offset: int) -> JobPage:
    """Return a page of jobs. Raises SearchTooLong."""
    statement = list_jobs(wanted, limit=limit, offset=offset)
    if wanted.text is None:
        return await services.database.run(statement)
    return await services.searches.run(wanted.account_id, statement)


class JobList(Resource):
    """GET /jobs."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with a page of the account's jobs, newest first."""
        caller = await self._services.authenticate_reader(req)
        wanted = read_filter(req, caller, self._services.kinds)
        limit = read_whole(req, "limit", default=20, least=1, most=MAX_JOBS)
        offset = read_whole(req, "offset", default=0)
        page = await find_jobs(self._services, wanted, limit=limit, offset=offset)
        show_page(req, resp, limit=limit, offset=offset, total=page.total, searched_since=page.searched_since)
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
        if delivery is None or not caller.may_use(delivery.job.route):
            raise JobNotFound
        if not delivery.job.is_final:
            raise JobNotFinished(
                f"The job is {delivery.job.state}; ask again, or follow /jobs/{delivery.job.id}/events.",
                retry_after=timedelta(seconds=1),
            )
        await show_delivery(self._services, resp, delivery)

    on_head = on_get
