"""Middleware: headers, one log line and metrics for every answer."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from math import ceil
from typing import Any
from uuid import uuid4

import falcon
import structlog
from pydantic_core import to_json

from api.http.request_context import SCOPE_KEY, Incoming, Receive, RequestContext
from pipeline.accounts.keys import redact
from pipeline.errors import PressroomError, UnsupportedMediaType, with_details
from pipeline.log import get_logger
from pipeline.operations.metrics import Metrics
from pipeline.tracing.trace_context import Tracer

log = get_logger(__name__)

Message = dict[str, Any]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

#: The client left before its answer (nginx's number; for log and metrics only).
CLIENT_LEFT = 499
#: Methods counted by metrics; a client's invented method would be a new series.
METHODS = frozenset(falcon.HTTP_METHODS)
#: Longest time to read the rest of a refused body.
MAX_DROP_SECONDS = 10.0
NOSNIFF = (b"x-content-type-options", b"nosniff")
NO_STORE = (b"cache-control", b"no-store")


class EncodingUnknown(UnsupportedMediaType):
    """The body is compressed."""

    code = "content_encoding_unknown"
    field = "Content-Encoding"

    def __init__(self, encoding: str) -> None:
        super().__init__(f"Content-Encoding {encoding[:60]!a} is not supported; send the body as it is.")


class RequestMiddleware:
    """An ASGI application that wraps ours."""

    def __init__(
        self, application: Application, metrics: Metrics, tracer: Tracer, *, drain: Callable[[], None]
    ) -> None:
        self._application = application
        self._tracer = tracer
        self._metrics = metrics
        self.drain = drain

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        context = scope[SCOPE_KEY] = RequestContext.begin(scope)
        structlog.contextvars.bind_contextvars(request_id=context.request_id)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                context.status = message["status"]
                message["headers"] = _complete(message["headers"], context)
            await send(message)

        # Without an answer the application has a bug, and the server answers.
        unanswered, held = int(HTTPStatus.INTERNAL_SERVER_ERROR), receive
        if context.has_body:
            context.incoming = Incoming(receive)
            held = _holding(context.incoming, context)
        try:
            await self._application(scope, held, send_with_headers)
            unanswered = CLIENT_LEFT
        except asyncio.CancelledError:
            context.status = CLIENT_LEFT
            raise
        except PressroomError as error:
            # The answer had begun: returning without its last chunk closes the connection, without a traceback.
            log.warning("answer broken off", code=error.code, error=error.message)
        finally:
            context.status = context.status or unanswered
            context.at_end.close()
            self._note(context)
            structlog.contextvars.clear_contextvars()
        if context.dropped_bytes:
            await _drop(receive, context.dropped_bytes)

    def refuse(self, error: PressroomError, *, is_noted: bool = False) -> tuple[Mapping[str, str], bytes]:
        """Note a refusal before there is a request; return its headers and body.

        `is_noted`: a request is being answered, and will be noted when it ends."""
        context = RequestContext(uuid4().hex, "OTHER", "", status=error.status)
        if not is_noted and error.status != HTTPStatus.INTERNAL_SERVER_ERROR:  # which is that of a request as well
            with structlog.contextvars.bound_contextvars(request_id=context.request_id, code=error.code):
                self._note(context)
        body = to_json({**with_details(error.document()), "request_id": context.request_id})
        headers = {
            "Content-Type": falcon.MEDIA_JSON,
            "Content-Length": str(len(body)),
            "X-Request-Id": context.request_id,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }
        if error.retry_after is not None:
            headers["Retry-After"] = str(max(1, ceil(error.retry_after.total_seconds())))
        return headers, body

    def _note(self, context: RequestContext) -> None:
        seconds = time.perf_counter() - context.started
        status = context.status or CLIENT_LEFT
        method = context.method if context.method in METHODS else "OTHER"
        labels: dict[str, Any] = {"route": context.route, "method": method}
        self._metrics.count("pressroom_http_requests_total", status=status, **labels)
        self._metrics.observe("pressroom_http_request_seconds", seconds, **labels)
        self._tracer.request(
            context.request_id,
            context.traceparent,
            f"{method} {context.route}",
            seconds,
            **{"http.request.method": method, "http.route": context.route, "http.response.status_code": status},
        )
        log.info(
            "request answered",
            method=context.method,
            # A token in a path is a secret too.
            path=context.route if "{token}" in context.route else redact(context.path),
            status=status,
            seconds=round(seconds, 4),
            account_id=str(context.caller.account_id) if context.caller else None,
        )


def _holding(receive: Receive, context: RequestContext) -> Receive:
    """Return a `receive` whose first call reads nothing, as Falcon makes it before anything can be refused.

    The server would then answer 100, or wait for a body that does not come. A compressed body is refused once it is
    read."""
    is_first = True

    async def held() -> Mapping[str, Any]:
        nonlocal is_first
        if is_first:
            is_first = False
            return {"type": "http.request", "body": b"", "more_body": True}
        context.is_body_held = False
        if context.content_encoding not in ("", "identity"):
            raise EncodingUnknown(context.content_encoding)
        return await receive()

    return held


async def _drop(receive: Receive, max_bytes: int) -> None:
    """Read and drop the rest of a refused body: its sender may read the answer only afterwards."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(MAX_DROP_SECONDS):
            while max_bytes > 0:
                message = await receive()
                max_bytes -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _complete(headers: Any, context: RequestContext) -> list[tuple[bytes, bytes]]:
    complete = list(headers)
    names = {name for name, _ in complete}
    complete.append(NOSNIFF)
    if b"cache-control" not in names:
        complete.append(NO_STORE)
    complete += [(name.encode(), value.encode("latin-1")) for name, value in context.headers.items()]
    return complete
