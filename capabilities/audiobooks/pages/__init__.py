"""The dashboard's page of an audiobook: its chapters while they are spoken, to be heard, changed and saved."""

import falcon.asgi

from api.dashboard.rendering import render
from api.jobs.job_resources import read_job_id
from api.services.resource import Resource
from capabilities.audiobooks.routes.progress import read_progress

PATH = "/dashboard/audiobooks/{job_id}"


class BookPage(Resource):
    """GET /dashboard/audiobooks/{job_id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        """Answer with the page."""
        session = await self._services.sessions.require(req, resp)
        book = await read_progress(self._services, session.caller, read_job_id(job_id))
        await render(req, resp, "audiobook.html", book=book, is_open=book.state in ("queued", "running"))


RESOURCES = {PATH: BookPage}
