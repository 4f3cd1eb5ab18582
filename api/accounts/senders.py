"""Senders: whose a request is that does something and has a small body, and that body."""

import falcon.asgi

from api.http.bodies.bodies import parse_object, read_body, refuse_length, require_type
from api.services.auth import header_key
from api.services.services import Services
from pipeline.accounts.keys import Caller


async def read_sent(
    services: Services, req: falcon.asgi.Request, *, max_bytes: int | None = None
) -> tuple[Caller, bytes]:
    """Return whose request it is, and its JSON body, `{}` for none; a key in a header counts before the body is read.

    It counts towards no limit. Raises Unauthorized, InvalidRequest, PayloadTooLarge, UnsupportedMediaType."""
    most = max_bytes or services.settings.api.max_json_bytes
    refuse_length(req, most)
    caller = await services.authenticate_reader(req) if header_key(req) else None
    body = await read_body(req, max_bytes=most)
    if body:
        require_type(req, "application/json")
    fields = parse_object(body) if body else {}
    return caller or await services.authenticate_reader(req, fields.get("api_key")), body or b"{}"
