"""Streamed work: routes that send their answer while it is made."""

import asyncio
from dataclasses import replace

import falcon.asgi

from api.services.streaming import Feed
from api.services.waiting import Waiter
from api.work.answers import name_engine, name_job, show_delivery
from api.work.delivering import find, join, wait
from api.work.preferences import Preference
from api.work.submitting import Order
from api.work.work import Work
from pipeline.errors import PressroomError
from pipeline.lifecycle import Submitted
from pipeline.lifecycle.jobs import Delivery


class StreamedWork(Work):
    """POST of a kind that streams. With a `Prefer` header it answers like any other, with the whole result."""

    async def _answer(
        self, order: Order, submitted: Submitted, preference: Preference, waiter: Waiter, resp: falcon.asgi.Response
    ) -> None:
        if preference.applied:
            await super()._answer(order, submitted, preference, waiter, resp)
            return
        # Before anything is awaited, so that no notice of a part is missed.
        job_id = submitted.job_id or waiter.job_id
        feed = self._services.streams.open(job_id)
        is_own = submitted.outcome == "accepted"
        try:
            if not is_own:
                await join(self._services, order, submitted, waiter)
            delivery = await self._begin(order, waiter, feed, resp)
        except asyncio.CancelledError:
            if is_own:
                self._services.streams.cancel(job_id)
            raise
        if delivery.job.is_final:
            await show_delivery(self._services, resp, delivery)
        else:
            self._stream(delivery, feed, resp, cancels=is_own)

    async def _begin(self, order: Order, waiter: Waiter, feed: Feed, resp: falcon.asgi.Response) -> Delivery:
        """Return the job once its first part exists or it has ended; until then the answer can still be an error."""
        while True:
            begun = asyncio.ensure_future(feed.begun())
            ended = asyncio.ensure_future(wait(self._services, order, Preference(), waiter, resp))
            try:
                await asyncio.wait({begun, ended}, return_when=asyncio.FIRST_COMPLETED)
                if ended.done():
                    return ended.result()
            finally:
                begun.cancel()
                ended.cancel()
            delivery = await find(self._services, order, waiter)
            if feed.has_begun or delivery.job.is_final:
                return delivery

    def _stream(self, delivery: Delivery, feed: Feed, resp: falcon.asgi.Response, *, cancels: bool) -> None:
        job, item = delivery.job, delivery.item
        if item is None:
            raise PressroomError(f"The kind {job.kind} streams, and yet its job has several items.")
        name_job(self._services, resp, job, delivery.available)
        # The final cost is not known yet; the job has it later.
        resp.set_header("X-Credits-Used", str(job.credits_held))
        name_engine(self._services, resp, job, feed.parts.engine)
        # The job's own kind: a route may make jobs of several.
        shown = self._services.kinds[job.kind].respond(job, [replace(item, output=feed.parts.checkpoint())])
        resp.content_type = shown.content_type
        resp.set_headers(dict(shown.headers))
        resp.stream = self._services.streams.send(job.id, feed, begun=feed.parts, cancels=cancels)
