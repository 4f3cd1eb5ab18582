"""Events: a job's progress as server-sent events, until it ends."""

import time
from collections.abc import AsyncIterator
from datetime import timedelta

import falcon.asgi
from falcon.asgi import SSEvent

from api.http.operations import Operation, Reply
from api.http.request_context import context_of
from api.jobs.job_resources import TAG, find_own_job
from api.services.auth import header_key, query_key
from api.services.resource import Resource
from api.services.waiting import Restarting, Waiter
from pipeline.errors import PressroomError, ServiceUnavailable
from pipeline.jobs.job_documents import job_document
from pipeline.lifecycle.jobs import Job, find_job

#: How often a job's progress is read.
LOOK_EVERY = timedelta(seconds=1)
#: Longest silence; proxies close what is silent for a minute or less.
MAX_SILENCE_SECONDS = 14.0


class JobEvents(Resource):
    """GET /jobs/{id}/events."""

    @Operation(
        id="get_job_events",
        tag=TAG,
        summary="Follow a job by server-sent events: progress at each change, then ended with the job.",
        replies={200: Reply("The events.", content=("text/event-stream",))},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        caller = await self._services.authenticate_reader(req)
        job = await find_own_job(self._services, caller, job_id)
        # Entered here, where the answer can still be an error; left when the request ends, even before its first event.
        place = self._services.waiting.enter(job.id, waits=not job.is_final)
        waiter = context_of(req).at_end.enter_context(place)
        resp.set_header("X-Job-Id", str(job.id))
        resp.set_header("X-Accel-Buffering", "no")  # nginx would collect events before it passes them on
        resp.sse = self._follow(req, job, waiter)

    async def _follow(self, req: falcon.asgi.Request, job: Job, waiter: Waiter) -> AsyncIterator[SSEvent | None]:
        shown = None
        spoke_at = time.monotonic()
        while True:
            document = job_document(job, self._services.kinds)
            if job.is_final:
                yield SSEvent(event="ended", json=document)
                return
            if document != shown:
                shown, spoke_at = document, time.monotonic()
                yield SSEvent(event="progress", json=document)
            elif time.monotonic() > spoke_at + MAX_SILENCE_SECONDS:
                spoke_at = time.monotonic()
                yield None  # a comment
            try:
                job = await self._next(job, waiter)
                await self._check_caller(req)
            except Restarting:
                return  # the client connects again, to another process
            except ServiceUnavailable:
                continue
            except PressroomError:
                return  # the key was deleted, or whoever was signed in has signed out

    async def _check_caller(self, req: falcon.asgi.Request) -> None:
        """Look again whether the key or the session is good. Raises PressroomError."""
        if hasattr(req.context, "session"):
            del req.context.session
        await self._services.authenticate(req, header_key(req) or query_key(req))

    async def _next(self, job: Job, waiter: Waiter) -> Job:
        """Return the job as it is a moment later, or as it was when the database is away."""
        await waiter.wait(within=LOOK_EVERY)
        try:
            return await self._services.database.run(find_job(job.id)) or job
        except ServiceUnavailable:
            return job
