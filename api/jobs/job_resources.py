"""Job resources: jobs listed and read by their account."""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

import falcon.asgi

from api.http.operations import Operation, Reply
from api.http.parameters import OFFSET, RANGE, SINCE, UNTIL, Parameter, choices, limit, show_page, text
from api.services.resource import Resource
from api.services.services import Services
from api.work.answers import show_delivery, show_json
from pipeline.accounts.keys import Caller
from pipeline.errors import Conflict, NotFound
from pipeline.jobs.job_documents import JobDocument, job_document
from pipeline.jobs.job_lists import JobFilter, JobPage, list_jobs
from pipeline.lifecycle.jobs import JOB_STATES, Job, find_delivery, find_job
from pipeline.registry import Kinds

TAG = "jobs"
#: Longest search text; the dashboard's form has it too.
MAX_QUERY = 200

STATE = choices("state", "Only jobs in these states, separated by commas.", JOB_STATES)
SEARCH = text("q", "Only jobs with this text in their requests; the newest jobs are searched.", longest=MAX_QUERY)
ID_PREFIX = text(
    "id",
    "Only jobs whose ids start with this.",
    longest=36,
    pattern="^([0-9a-fA-F]-?){4,32}$",
    remedy="send an id, or at least its first four digits.",
)
REQUEST_ID = text("request_id", "Only jobs of requests with this X-Request-Id.", longest=128)
LIMIT = limit(20, 100)
SEARCHED_SINCE = {
    "X-Searched-Since": {
        "schema": {"type": "string", "format": "date-time"},
        "description": "If the search for q stopped early: the creation time of the oldest job searched.",
    }
}


def kind_parameter(known: Collection[str]) -> Parameter[list[str]]:
    """Return the parameter that names kinds; which there are, the service knows."""
    named = {"$ref": "#/components/schemas/JobKind"}
    return choices("kind", "Only jobs of these kinds, separated by commas.", known, items=named)


class JobNotFound(NotFound):
    """No job of this account has that id."""

    code = "job_not_found"
    message = "There is no such job."


class JobNotFinished(Conflict):
    """The job has no result yet."""

    code = "job_not_finished"


def read_job_id(text: str) -> UUID:
    try:
        job_id = UUID(text)
    except ValueError:
        raise JobNotFound from None
    if str(job_id) != text.lower():
        raise JobNotFound
    return job_id


async def find_own_job(services: Services, caller: Caller, job_id: str) -> Job:
    """Return a job of the caller's account and of the routes of its key. Raises JobNotFound."""
    job = await services.database.run(find_job(read_job_id(job_id), caller.account_id))
    if job is None or not caller.may_use(job.route):
        raise JobNotFound
    return job


def read_filter(req: falcon.asgi.Request, caller: Caller, kinds: Kinds) -> JobFilter:
    """Return the filter in a query for the caller's jobs. Raises ParameterInvalid."""
    return JobFilter(
        account_id=caller.account_id,
        kinds=kind_parameter(list(kinds)).read(req) or None,
        states=STATE.read(req) or None,
        routes=caller.routes,
        request_id=REQUEST_ID.read(req),
        id_prefix=ID_PREFIX.read(req),
        since=SINCE.read(req),
        until=UNTIL.read(req),
        text=SEARCH.read(req),
    )


async def find_jobs(services: Services, wanted: JobFilter, *, limit: int, offset: int) -> JobPage:
    statement = list_jobs(wanted, limit=limit, offset=offset)
    if wanted.text is None:
        return await services.database.run(statement)
    return await services.searches.run(wanted.account_id, statement)


class JobList(Resource):
    """GET /jobs."""

    @Operation(
        id="get_jobs",
        tag=TAG,
        summary="List the account's jobs, newest first.",
        parameters=(kind_parameter(()), STATE, SINCE, UNTIL, SEARCH, ID_PREFIX, REQUEST_ID, LIMIT, OFFSET),
        replies={200: Reply("A page, with its neighbours in Link.", list[JobDocument], headers=SEARCHED_SINCE)},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller = await self._services.authenticate_reader(req)
        wanted = read_filter(req, caller, self._services.kinds)
        limit, offset = LIMIT.read(req), OFFSET.read(req)
        page = await find_jobs(self._services, wanted, limit=limit, offset=offset)
        show_page(req, resp, limit=limit, offset=offset, total=page.total, searched_since=page.searched_since)
        show_json(resp, [job_document(job, self._services.kinds) for job in page.jobs])


class JobResource(Resource):
    """GET /jobs/{id}."""

    @Operation(id="get_job", tag=TAG, summary="Return a job.", replies={200: Reply("The job.", JobDocument)})
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        caller = await self._services.authenticate_reader(req)
        job = await find_own_job(self._services, caller, job_id)
        show_json(resp, job_document(job, self._services.kinds))


class JobResult(Resource):
    """GET /jobs/{id}/result."""

    @Operation(
        id="get_job_result",
        tag=TAG,
        summary="Return a job's result with the status, headers and body of its route.",
        parameters=(RANGE,),
        replies={
            200: Reply("The result, of the content type of the job's route.", content=("*/*",)),
            206: Reply("The requested range of an audio or other file.", content=("*/*",)),
        },
        errors=(400, 402, 409, 410, 416),
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
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
