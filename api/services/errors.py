"""Errors: every error becomes one JSON document (docs/api.md, Errors)."""

from http import HTTPStatus
from math import ceil
from typing import Any, Protocol

import falcon
import falcon.asgi
from pydantic_core import to_json

from api.http.bodies.bodies import drop_rest
from api.http.error_forms import ShownError
from api.http.request_context import RequestContext, context_of
from api.services.services import Services
from pipeline import errors
from pipeline.accounts.keys import redact
from pipeline.errors import PressroomError, with_details
from pipeline.log import get_logger

log = get_logger(__name__)

#: Errors by status, for requests that Falcon itself refuses.
BY_STATUS = {
    error.status: error
    for error in (
        errors.InvalidRequest,
        errors.Forbidden,
        errors.NotFound,
        errors.MethodNotAllowed,
        errors.PayloadTooLarge,
        errors.UnsupportedMediaType,
        errors.ServiceUnavailable,
    )
}


class ErrorPages(Protocol):
    """Shows errors as pages."""

    async def show_error(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, error: PressroomError) -> bool:
        """Answer with a page if the request asks for one; return whether it does."""


def show_document(
    services: Services,
    req: falcon.asgi.Request,
    resp: falcon.asgi.Response,
    status: int,
    document: dict[str, Any],
    *,
    request_id: str,
) -> None:
    """Answer with an error document, without any API key that was sent in a wrong field."""
    form = next((form for path, form in services.error_forms.items() if req.path.startswith(path)), ShownError)
    shown = form(status, {**with_details(document), "request_id": request_id})
    resp.status = shown.status
    resp.set_headers(dict(shown.headers))
    resp.stream = resp.text = None
    resp.content_type = falcon.MEDIA_JSON
    resp.data = redact(to_json(shown.document).decode()).encode()


def add_handlers(app: falcon.asgi.App[Any, Any], services: Services, pages: ErrorPages) -> None:
    """Make the app answer errors with our documents, or pages."""
    max_drained_bytes = services.settings.api.max_drained_bytes

    async def on_ours(
        req: falcon.asgi.Request, resp: falcon.asgi.Response, error: PressroomError, params: dict[str, Any]
    ) -> None:
        await services.note_refusal(req)
        await leave_body(req, resp)
        resp.set_headers(dict(error.headers))
        if error.retry_after is not None:
            resp.set_header("Retry-After", str(max(1, ceil(error.retry_after.total_seconds()))))
        if not await pages.show_error(req, resp, error):
            show_document(services, req, resp, error.status, error.document(), request_id=context_of(req).request_id)

    async def has_ended(req: falcon.asgi.Request, context: RequestContext) -> bool:
        """Return whether the whole body has arrived."""
        if context.content_encoding in ("", "identity"):  # any other can't be read
            await drop_rest(req, max_drained_bytes)
        # Falcon mistakes a body that stalls for one that ended.
        return context.incoming is None or context.incoming.has_ended

    async def leave_body(req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer a refusal before the rest of the body, which is dropped afterwards; the connection ends."""
        context = context_of(req)
        if context.is_body_held:  # the client does not send it after a refusal
            resp.set_header("Connection", "close")
        elif not await has_ended(req, context):
            resp.set_header("Connection", "close")
            context.dropped_bytes = max_drained_bytes

    async def on_falcons(
        req: falcon.asgi.Request, resp: falcon.asgi.Response, error: falcon.HTTPError, params: dict[str, Any]
    ) -> None:
        if error.headers:
            resp.set_headers(error.headers)
        await on_ours(req, resp, _translated(req, error), params)

    async def on_unknown(
        req: falcon.asgi.Request, resp: falcon.asgi.Response, error: Exception, params: dict[str, Any]
    ) -> None:
        log.error("request failed", path=redact(req.path), exc_info=error)
        await on_ours(req, resp, PressroomError("Something went wrong here and was logged. Try again later."), params)

    app.add_error_handler(PressroomError, on_ours)
    app.add_error_handler(falcon.HTTPError, on_falcons)
    app.add_error_handler(Exception, on_unknown)


def _translated(req: falcon.asgi.Request, error: falcon.HTTPError) -> PressroomError:
    if isinstance(error, falcon.HTTPRouteNotFound):
        return errors.NotFound("There is nothing at this path. GET /docs lists all routes.", code="route_not_found")
    if isinstance(error, falcon.HTTPMethodNotAllowed):
        allowed = (error.headers or {}).get("Allow", "")  # type: ignore[union-attr]  # falcon sets a dict
        return errors.MethodNotAllowed(f"This path does not take {req.method}; it takes {allowed}.")
    known = BY_STATUS.get(HTTPStatus(error.status_code), errors.InvalidRequest)
    return known(str(error.description or error.title))
