"""Errors in OpenAI's form: one object `error` with message, type, param and code, which its clients read."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from api.http.error_forms import ShownError
from pipeline.errors import with_details

#: What OpenAI calls what is called otherwise here: programs that know its API match on these.
CODES = {
    "unauthorized": "invalid_api_key",
    "insufficient_credits": "insufficient_quota",
    "route_not_found": "unknown_url",
    "internal_error": "server_error",
}
#: Clients try all 429 again but this one, for which there is no 402 in OpenAI's API.
INSUFFICIENT = "insufficient_quota"
#: Fields of the kinds, by what clients have sent for them.
PARAMETERS = {"text": "input", "voice_name": "voice", "audio": "file"}
TYPES = {
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
}


def openai_error(status: int, document: Mapping[str, Any]) -> ShownError:
    """Return one of our errors as OpenAI's clients expect it."""
    code = CODES.get(document.get("code", ""), document.get("code"))
    is_insufficient = code == INSUFFICIENT
    shown = {
        "message": document.get("message") or document.get("error"),
        "type": INSUFFICIENT if is_insufficient else _type(status),
        "param": _parameter(document),
        "code": code,
    }
    return ShownError(
        HTTPStatus.TOO_MANY_REQUESTS if is_insufficient else status,
        {"error": shown, "request_id": document.get("request_id")},
        {"x-should-retry": "false"} if is_insufficient else {},
    )


def lacks_version(status: int, document: Mapping[str, Any]) -> ShownError:
    """Return the error of a client whose base URL lacks /v1, with what helps."""
    if document.get("code") == "route_not_found":
        document = {
            **document,
            "message": "OpenAI's routes begin with /v1 here: let the client's base URL end with /v1.",
        }
    return openai_error(status, document)


def _type(status: int) -> str:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "server_error"
    return TYPES.get(HTTPStatus(status), "invalid_request_error")


def _parameter(document: Mapping[str, Any]) -> str | None:
    """Return the field that is at fault; the first of several."""
    faults = with_details(document)["details"]
    return PARAMETERS.get(faults[0]["field"], faults[0]["field"]) if faults else None
