"""Jobs: what a request became, for whoever asks later."""

from uuid import UUID

import falcon.asgi

from api.answers import show_json
from api.documents import job_document
from api.services import Services
from pipeline.errors import NotFound
from pipeline.jobs import find_job


class JobNotFound(NotFound):
    """No job of this account has that id; whether another's has is not told."""

    code = "job_not_found"

    def __init__(self) -> None:
        super().__init__("There is no such job.")


def read_job_id(text: str) -> UUID:
    """Return a job id as it stands in a path. Raises JobNotFound."""
    try:
        job_id = UUID(text)
    except ValueError:
        raise JobNotFound from None
    if str(job_id) != text.lower():
        raise JobNotFound
    return job_id


class JobResource:
    """GET /jobs/{id}."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        """Answer with the job."""
        caller = await self._services.authenticate_reader(req)
        job = await self._services.database.run(find_job(read_job_id(job_id), caller.account_id))
        if job is None:
            raise JobNotFound
        show_json(resp, job_document(job, self._services.kinds))

    on_head = on_get
