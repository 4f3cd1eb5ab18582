"""Errors that a user or an operator can act on: a type, a stable code, and a message with value, limit and remedy."""

from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any, ClassVar


class PressroomError(Exception):
    """Something that its reader can act on.

    `code` never changes, so that programs can match on it; `details` are extra fields of the HTTP error body. A class
    may have a `message`, a `retry_after` and a `field` that all its errors share: the field, header or parameter of the
    request that is at fault, as `field` of the details says of a single error."""

    title: ClassVar[str] = "Internal Server Error"
    status: ClassVar[HTTPStatus] = HTTPStatus.INTERNAL_SERVER_ERROR
    code: str = "internal_error"
    message: str = ""
    field: str | None = None
    retry_after: timedelta | None = None
    #: True if it is a fault of ours that passes: a worker tries again until the job's deadline.
    passes: ClassVar[bool] = False
    #: Headers of an HTTP answer that all errors of a class have.
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        message: str | None = None,
        *,
        code: str | None = None,
        retry_after: timedelta | None = None,
        **details: Any,
    ) -> None:
        self.message = self.message if message is None else message
        super().__init__(self.message)
        self.retry_after = retry_after or self.retry_after
        self.details = details
        if code is not None:
            self.code = code

    def document(self) -> dict[str, Any]:
        """Return the error as it is stored with an item and shown to its user (docs/api.md, Errors)."""
        return {"error": self.title, "message": self.message, "code": self.code, **self.at_fault, **self.details}

    @property
    def at_fault(self) -> dict[str, str]:
        """The field that errors of the class are about, as a part of the document; nothing where there is none."""
        return {} if self.field is None or self.details.keys() & {"field", "details"} else {"field": self.field}


def with_details(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error's document with its faults in `details`, empty where no field, header or parameter is at fault.

    An error that is about one names it as `field`."""
    field = document.get("field")
    message = document.get("message") or document.get("error")
    faults = [] if field is None else [{"field": field, "code": document.get("code"), "message": message}]
    rest = {name: value for name, value in document.items() if name != "field"}
    return rest if "details" in rest else {**rest, "details": faults}


class InvalidRequest(PressroomError):
    """The request can't be carried out as it was sent."""

    title = "Invalid Request"
    status = HTTPStatus.BAD_REQUEST
    code = "invalid_request"


class Unauthorized(PressroomError):
    """The API key is missing, malformed, unknown or revoked; which of them is not told."""

    title = "Unauthorized"
    status = HTTPStatus.UNAUTHORIZED
    code = "unauthorized"
    message = "A valid API key is needed: send it as api_key, as X-API-Key, or as Authorization: Bearer <key>."


class InsufficientCredits(PressroomError):
    """The account can't pay for the request."""

    title = "Insufficient Credits"
    status = HTTPStatus.PAYMENT_REQUIRED
    code = "insufficient_credits"

    def __init__(self, *, required: int, remaining: int) -> None:
        super().__init__(
            f"This request needs {required:,} credits; the balance is {remaining:,}. Top up the account and try again.",
            credits_required=required,
            credits_remaining=remaining,
        )


class KeyCreditsUsed(PressroomError):
    """The API key has used up its own credits of this month."""

    title = "Insufficient Credits"
    status = HTTPStatus.PAYMENT_REQUIRED
    code = "key_credit_limit"

    def __init__(self, *, required: int, remaining: int) -> None:
        super().__init__(
            f"This request needs {required:,} credits; this API key has {remaining:,} left of its own for this month"
            " (UTC), what is held included. Use another key, give this one more, or wait for the next month.",
            credits_required=required,
            key_credits_remaining=remaining,
        )


class Forbidden(PressroomError):
    """The caller may not have this."""

    title = "Forbidden"
    status = HTTPStatus.FORBIDDEN
    code = "forbidden"


class AccountSuspended(Forbidden):
    """The operator has suspended the account: nothing is done for it, and what ran was ended."""

    code = "account_suspended"
    message = "The account is suspended. Ask the operator of this service; your data stays as it was."


class NotFound(PressroomError):
    """There is no such thing, or it is another account's."""

    title = "Not Found"
    status = HTTPStatus.NOT_FOUND
    code = "not_found"


class MethodNotAllowed(PressroomError):
    """The path is right, the method is not."""

    title = "Method Not Allowed"
    status = HTTPStatus.METHOD_NOT_ALLOWED
    code = "method_not_allowed"


class Conflict(PressroomError):
    """The thing is in a state that does not allow this."""

    title = "Conflict"
    status = HTTPStatus.CONFLICT
    code = "conflict"


class Gone(PressroomError):
    """It was there, and has been deleted."""

    title = "Gone"
    status = HTTPStatus.GONE
    code = "gone"


class PayloadTooLarge(PressroomError):
    """The body, or a file in it, is larger than the route takes."""

    title = "Payload Too Large"
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    code = "payload_too_large"


class UnsupportedMediaType(PressroomError):
    """The body is of a type that the route does not take."""

    title = "Unsupported Media Type"
    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    code = "unsupported_media_type"
    field = "Content-Type"


class Unprocessable(PressroomError):
    """The request contradicts an earlier one."""

    title = "Unprocessable"
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    code = "unprocessable"


class RateLimitExceeded(PressroomError):
    """Too many requests in too short a time."""

    title = "Rate Limit Exceeded"
    status = HTTPStatus.TOO_MANY_REQUESTS
    code = "rate_limit_exceeded"


class ServiceUnavailable(PressroomError):
    """Something that the request needs is not there at the moment."""

    title = "Service Unavailable"
    status = HTTPStatus.SERVICE_UNAVAILABLE
    code = "service_unavailable"


class NotReady(PressroomError):
    """A server, an engine or a setting that this command needs is missing; the message says what to do."""

    code = "not_ready"


class InvalidSetting(PressroomError):
    """A setting's name or file can't be used; the message names it, and the nearest name."""

    code = "invalid_setting"
