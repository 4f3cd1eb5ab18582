"""Request context: the state of one request, for headers, log and metrics."""

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import falcon.asgi

from api.http.connections import too_slow
from pipeline.accounts.keys import PREFIX, Caller
from pipeline.identifiers import uuid7
from pipeline.tracing.trace_context import read_traceparent

#: A body is looked at whenever it was waited for so many seconds, and must have come with so many bytes a second since
#: the last look. Without it a byte now and then keeps a connection open for ever, and with it what has come.
GRACE_SECONDS, LEAST_RATE = 30.0, 1_000

#: ASGI's channel on which a request's body comes.
Receive = Callable[[], Awaitable[Mapping[str, Any]]]


class Incoming:
    """A `receive` of a body; `has_ended` once all of it was received."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._waited = 0.0
        #: Bytes that have come since the last look.
        self._bytes = 0
        self.has_ended = False
        self._is_refused = False

    async def __call__(self) -> Mapping[str, Any]:
        """Return what comes next. Raises Refusal, once; only the time counts in which the body is waited for."""
        if self._is_refused:
            return {"type": "http.disconnect"}
        began = monotonic()
        message = await self._receive()
        if message["type"] != "http.request":  # the client has left
            return message
        self._waited += monotonic() - began
        self._bytes += len(message.get("body", b""))
        self.has_ended = not message.get("more_body", False)
        if not self.has_ended and self._waited > GRACE_SECONDS:
            if self._bytes < LEAST_RATE * self._waited:
                self._is_refused = True
                raise too_slow(
                    "body_too_slow",
                    f"Only {self._bytes:,} bytes have arrived within {self._waited:.0f} seconds; "
                    f"send the body with {LEAST_RATE:,} bytes a second or more.",
                )
            self._waited, self._bytes = 0.0, 0
        return message


SCOPE_KEY = "pressroom.context"
#: A client's own request id is kept if it is printable and short enough.
SANE_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")

#: Headers that only a request with a body has.
BODY_HEADERS = frozenset((b"content-length", b"transfer-encoding"))


@dataclass(slots=True)
class RequestContext:
    """The state of a request while it is answered; `route` is its path template.

    `at_end` is closed when the request ends, even before its answer began.
    `is_body_held`: the client waits for 100 Continue before it sends its body (`Expect: 100-continue`).
    `content_encoding`: of the body, in lower case. `incoming`: the body as it arrives, or None without one.
    `dropped_bytes`: most bytes of a refused body to read and drop after the answer.
    `sent_fields`: the paths of the fields in a JSON body (api/http/bodies/sent_fields.py).
    """

    request_id: str
    method: str
    path: str
    started: float = field(default_factory=time.perf_counter)
    route: str = "unmatched"
    status: int = 0
    caller: Caller | None = None
    is_body_held: bool = False
    has_body: bool = False
    content_encoding: str = ""
    incoming: Incoming | None = None
    dropped_bytes: int = 0
    traceparent: str | None = None
    sent_fields: frozenset[tuple[str, ...]] = frozenset()
    headers: dict[str, str] = field(default_factory=dict)
    at_end: ExitStack = field(default_factory=ExitStack)

    @classmethod
    def begin(cls, scope: Mapping[str, Any]) -> "RequestContext":
        request_id = ""
        is_body_held = has_body = False
        content_encoding, traceparent = "", None
        for name, value in scope["headers"]:
            if name == b"x-request-id":
                request_id = value.decode("latin-1")
            elif name in BODY_HEADERS:
                has_body = value != b"0"
            elif name == b"expect":
                is_body_held = value.lower() == b"100-continue"
            elif name == b"content-encoding":
                content_encoding = value.decode("latin-1").strip().lower()
            elif name == b"traceparent":
                traceparent = value.decode("latin-1")
        if not SANE_REQUEST_ID.fullmatch(request_id) or PREFIX in request_id:
            # A client that traces its requests finds this one by the trace id.
            caller = read_traceparent(traceparent) if traceparent else None
            request_id = caller[0] if caller else uuid7().hex
        return cls(
            request_id,
            scope["method"],
            scope["path"],
            is_body_held=is_body_held and has_body,
            has_body=has_body,
            content_encoding=content_encoding,
            traceparent=traceparent,
            headers={"x-request-id": request_id},
        )


def context_of(req: falcon.asgi.Request) -> RequestContext:
    context: RequestContext = req.scope[SCOPE_KEY]
    return context
