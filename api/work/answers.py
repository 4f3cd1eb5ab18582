"""Answers: the HTTP answer of a job, the same for a client that waited and for one that asks later."""

import hashlib
from datetime import timedelta
from http import HTTPStatus
from math import ceil
from typing import Any

import falcon
import falcon.asgi
from pydantic_core import to_json

from api.http.address import base_url
from api.http.ranges import send_artifacts
from api.services.errors import show_document
from api.services.services import Services
from pipeline.errors import Gone, PressroomError, ServiceUnavailable
from pipeline.jobs.job_documents import job_document, shown_error
from pipeline.kind import Response
from pipeline.lifecycle.jobs import Delivery, Job, find_items


def show_json(resp: falcon.asgi.Response, media: Any, status: int = 200) -> None:
    resp.status = status
    resp.content_type = falcon.MEDIA_JSON
    resp.data = to_json(media)


async def show_delivery(services: Services, resp: falcon.asgi.Response, delivery: Delivery) -> None:
    """Answer with what a finished job delivered, or with why it did not. Raises Gone, ServiceUnavailable."""
    job = delivery.job
    name_job(services, resp, job, delivery.available)
    refuse_gone(job)
    kind = services.kinds.get(job.kind)
    if job.state not in {"succeeded", "partial"} and not (kind and kind.answer.without_success):
        _show_failure(services, resp, job)
        return
    if kind is None:
        # A process of an older or newer version can answer.
        message = f"This process does not know the kind {job.kind}; try again in a moment."
        raise ServiceUnavailable(message, code="kind_unknown", retry_after=timedelta(seconds=1))
    is_read = delivery.item is not None and not kind.answer.shows_inputs
    items = [delivery.item] if delivery.item and is_read else await services.database.run(find_items(job.id))
    await show_response(services, resp, kind.respond(job, items))


def refuse_gone(job: Job) -> None:
    """Raise Gone where a job's result is no longer there."""
    if job.deleted_at is not None:
        asked = "The result was deleted, as its account asked"
        raise Gone(f"{asked}; send the request again, with a new Idempotency-Key if any.", code="result_deleted")
    if job.is_gone:
        kept = "The result was kept as long as promised and has been deleted"
        raise Gone(f"{kept}; send the request again.", code="result_expired")


def _show_failure(services: Services, resp: falcon.asgi.Response, job: Job) -> None:
    stored = job.error or PressroomError("The work failed; nothing was charged for it.").document()
    status = int(stored.get("status", HTTPStatus.INTERNAL_SERVER_ERROR))
    retry_after = stored.get("retry_after_seconds")
    if retry_after is None and status == HTTPStatus.SERVICE_UNAVAILABLE:
        retry_after = 1
    if retry_after is not None:
        resp.set_header("Retry-After", str(max(1, ceil(retry_after))))
    show_document(services, resp.context.request, resp, status, shown_error(stored), request_id=job.request_id)


def show_accepted(
    services: Services, resp: falcon.asgi.Response, job: Job, *, available: int | None, applied: str
) -> None:
    """Answer 202 with the job; its client asks for the result later."""
    name_job(services, resp, job, available)
    resp.set_header("Location", f"/jobs/{job.id}")
    resp.set_header("Preference-Applied", applied)
    show_json(resp, job_document(job, services.kinds), 202)


def name_job(services: Services, resp: falcon.asgi.Response, job: Job, available: int | None) -> None:
    """Say in headers which job an answer is of, what it cost, and who made it."""
    resp.set_header("X-Job-Id", str(job.id))
    resp.set_header("X-Credits-Used", str(job.credits_captured))
    if available is not None:
        resp.set_header("X-Credits-Remaining", str(available))
    if job.engine:
        name_engine(services, resp, job, job.engine)


def name_engine(services: Services, resp: falcon.asgi.Response, job: Job, engine: str) -> None:
    """Say in headers which engine made an answer, and its origin (docs/marking.md)."""
    resp.set_header("X-Engine", engine)
    kind = services.kinds.get(job.kind)
    if origin := kind and kind.origin(engine):
        resp.set_header("X-Content-Origin", origin)


async def show_response(services: Services, resp: falcon.asgi.Response, response: Response) -> None:
    """Answer as a kind says, its links made into URLs. Raises Gone, ServiceUnavailable."""
    if response.artifacts:
        resp.status = response.status
        etag = hashlib.sha256("\n".join(response.artifacts).encode()).hexdigest()[:32]
        await send_artifacts(resp.context.request, resp, services.artifacts, response.artifacts, etag=etag)
    else:
        base = services.settings.api.public_url or base_url(resp.context.request, services.proxies)
        show_json(resp, await services.links.resolve(response.media, base.rstrip("/")), response.status)
    resp.content_type = response.content_type
    resp.set_headers(dict(response.headers))
