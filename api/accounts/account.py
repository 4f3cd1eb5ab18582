"""Account: whose key it is."""

import falcon.asgi

from api.http.address import counted_address
from api.http.bodies.bodies import read_json
from api.http.bodies.fields import FieldsInvalid, missing
from api.services.auth import header_key, query_key
from api.services.resource import Resource
from api.work.answers import show_json
from pipeline.errors import AccountSuspended


class KeyVerification(Resource):
    """POST /verify-key."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer whether a key is good, and whose it is; costs nothing."""
        services = self._services
        _, fields = await read_json(req, max_bytes=services.settings.api.max_json_bytes)
        key = _key_field(header_key(req) or fields.get("api_key", query_key(req)))
        caller = await services.authenticator.find(key)
        if caller is None:
            await services.limits.count_invalid(counted_address(req, services.proxies))
            show_json(resp, {"valid": False, "error": "The API key is malformed, unknown or revoked."})
            return
        if caller.is_suspended:
            show_json(resp, {"valid": False, "error": AccountSuspended.message})
            return
        await services.show_rate_limit(req, caller)
        show_json(resp, {"valid": True, "subscription_tier": caller.tier, "user_id": str(caller.account_id)})


def _key_field(key: object) -> str:
    if key is None:
        raise FieldsInvalid([missing("api_key")])
    if not isinstance(key, str) or not key:
        fault = {"field": "api_key", "message": "This must be a text that is not empty.", "code": "field_type"}
        raise FieldsInvalid([fault])
    return key
