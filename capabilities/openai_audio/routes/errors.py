"""Errors in OpenAI's form: an object `error` with message, type, param and code."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from api.http.error_forms import ShownError
from pipeline.errors import with_details

#: OpenAI's codes for ours; programs match on them.
CODES = {
    "unauthorized": "invalid_api_key",
    "insufficient_credits": "insufficient_quota",
    "route_not_found": "unknown_url",
    "internal_error": "server_error",
}
#: The one 429 that clients don't try again: OpenAI's API has no 402.
INSUFFICIENT = "insufficient_quota"
#: Errors that clients must not try again: a job that goes on behind the error would be made, and charged, twice.
FINAL = (INSUFFICIENT, "restarting")
#: OpenAI's fields for ours.
PARAMETERS = {"text": "input", "voice_name": "voice", "audio": "file"}
TYPES = {
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
}


def openai_error(status: int, document: Mapping[str, Any]) -> ShownError:
    """Return one of our errors in OpenAI's form."""
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
        {"x-should-retry": "false"} if code in FINAL else {},
    )


def lacks_version(status: int, document: Mapping[str, Any]) -> ShownError:
    """Return the error for a client whose base URL lacks /v1."""
    if document.get("code") == "route_not_found":
        message = "OpenAI's routes begin with /v1: let the client's base URL end with /v1."
        document = {**document, "message": message}
    return openai_error(status, document)


def _type(status: int) -> str:
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "server_error"
    return TYPES.get(HTTPStatus(status), "invalid_request_error")


def _parameter(document: Mapping[str, Any]) -> str | None:
    """Return the first field at fault."""
    faults = with_details(document)["details"]
    return PARAMETERS.get(faults[0]["field"], faults[0]["field"]) if faults else None
