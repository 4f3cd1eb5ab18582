"""Resource: the base class of routes, and the small body of a request that changes something."""

import falcon.asgi

from api.http.bodies.bodies import parse_object, read_body, refuse_length, require_type
from api.http.bodies.sent_fields import paths_of
from api.http.request_context import context_of
from api.services.auth import header_key
from api.services.services import Services
from pipeline.accounts.keys import Caller


class Resource:
    """A route's resource, which uses the services of its process; Falcon calls its `on_get`, `on_post` and so on.

    HEAD is answered as GET is, without the body."""

    def __init_subclass__(cls) -> None:
        if "on_get" in vars(cls) and "on_head" not in vars(cls):
            cls.on_head = cls.on_get  # type: ignore[attr-defined]  # Falcon looks for both

    def __init__(self, services: Services) -> None:
        self._services = services


async def read_sent(
    services: Services, req: falcon.asgi.Request, *, max_bytes: int | None = None, any_type: bool = False
) -> tuple[Caller, bytes]:
    """Return the caller and the JSON body, `{}` if there is none. A key in a header is checked before the body is read.

    The request counts towards no limit. With `any_type`, Content-Type does not matter.
    Raises Unauthorized, InvalidRequest, PayloadTooLarge, UnsupportedMediaType."""
    most = max_bytes or services.settings.api.max_json_bytes
    refuse_length(req, most)
    caller = await services.authenticate_reader(req) if header_key(req) else None
    body = await read_body(req, max_bytes=most)
    if body and not any_type:
        require_type(req, "application/json")
    fields = parse_object(body) if body else {}
    context_of(req).sent_fields = paths_of(fields)
    return caller or await services.authenticate_reader(req, fields.get("api_key")), body or b"{}"
