"""Job log: the last lines that processes have logged about a job."""

import falcon.asgi

from api.dashboard.rendering import redirect, render
from api.jobs.job_resources import JobNotFound, read_job_id
from api.services.resource import Resource
from api.services.services import Services
from pipeline.job_log import JobLine, read_job_log
from pipeline.lifecycle.jobs import Job, find_job
from pipeline.wakes.redis_away import REDIS_AWAY

PATH = "/dashboard/operators/job-log"


class JobLogSearch(Resource):
    """GET /dashboard/operators/job-log?job=…."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        job_id = read_job_id((req.get_param("job") or "").strip())
        redirect(req, resp, f"{PATH}/{job_id}")


class JobLog(Resource):
    """GET /dashboard/operators/job-log/{job_id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        job = await self._services.database.run(find_job(read_job_id(job_id)))
        if job is None:
            raise JobNotFound
        lines = await read_lines(self._services, job)
        await render(req, resp, "operators/job_log.html", job=job, lines=lines)


RESOURCES = {PATH: JobLogSearch, f"{PATH}/{{job_id}}": JobLog}


async def read_lines(services: Services, job: Job) -> list[JobLine] | None:
    """Return the last lines about a job; None: Redis is away."""
    try:
        return await read_job_log(services.client, job.id, created_at=job.created_at, finished_at=job.finished_at)
    except REDIS_AWAY:
        return None
