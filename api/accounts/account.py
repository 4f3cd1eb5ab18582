"""Account: whether an API key is valid, and whose it is."""

from typing import Annotated, NotRequired

import falcon.asgi
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from api.http.address import counted_address
from api.http.bodies.bodies import read_json
from api.http.bodies.fields import FieldsInvalid, ignore_unknown, missing
from api.http.operations import Operation, Reply
from api.services.auth import header_key, query_key
from api.services.resource import Resource
from api.work.answers import show_json
from pipeline.errors import AccountSuspended


class KeyVerificationRequest(BaseModel):
    """A key to be verified."""

    api_key: str = Field(min_length=1)


class KeyVerification(TypedDict):
    """A key's validity, and its account."""

    valid: bool
    subscription_tier: NotRequired[str]
    user_id: NotRequired[str]
    routes: NotRequired[Annotated[list[str], Field(description="The routes of a key that is limited to some.")]]
    error: NotRequired[Annotated[str, Field(description="Why the key is not valid.")]]


class VerifyKey(Resource):
    """POST /verify-key."""

    @Operation(
        id="post_verify_key",
        tag="account",
        summary="Verify an API key and return its account. Free of charge.",
        body=KeyVerificationRequest,
        example={"api_key": "pr_live_…"},
        replies={200: Reply("The key, if it is valid.", KeyVerification)},
        errors=(400, 413, 415, 429, 500, 503),
        is_open=True,
    )
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        services = self._services
        _, fields = await read_json(req, max_bytes=services.settings.api.max_json_bytes)
        ignore_unknown(req, KeyVerificationRequest)
        caller = await services.authenticator.find(_key_field(header_key(req) or fields.get("api_key", query_key(req))))
        if caller is None:
            await services.limits.count_invalid(counted_address(req, services.proxies))
            found: KeyVerification = {"valid": False, "error": "The API key is malformed, unknown or revoked."}
        elif caller.is_suspended:
            found = {"valid": False, "error": AccountSuspended.message}
        else:
            await services.show_rate_limit(req, caller)
            found = {"valid": True, "subscription_tier": caller.tier, "user_id": str(caller.account_id)}
            if caller.routes is not None:
                found["routes"] = list(caller.routes)
        show_json(resp, found)


def _key_field(key: object) -> str:
    if key is None:
        raise FieldsInvalid([missing("api_key")])
    if not isinstance(key, str) or not key:
        fault = {"field": "api_key", "message": "This must be a text that is not empty.", "code": "field_type"}
        raise FieldsInvalid([fault])
    return key
