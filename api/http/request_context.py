"""Request context: the state of one request, for headers, log and metrics."""

import re
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import falcon.asgi

from api.http.incoming import Incoming
from pipeline.accounts.keys import PREFIX, Caller
from pipeline.identifiers import uuid7
from pipeline.tracing.trace_context import read_traceparent

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
