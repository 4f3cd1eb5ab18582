"""Errors: what the service refused, and what kept its answer from arriving."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar


class PressroomError(Exception):
    """Anything that went wrong with a request.

    `code` never changes, so that programs can match on it (docs/api.md, Errors). `status` is the answer's HTTP status,
    `details` are the further fields of its body, and `request_id` is what an operator finds it by."""

    status: int | None
    code: str = "pressroom_error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        details: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.status = status
        self.details: Mapping[str, Any] = details or {}
        self.request_id = request_id
        self.retry_after = retry_after


class ConnectionLost(PressroomError):
    """The service could not be reached, or its answer broke off."""

    code = "connection_lost"


class NotPressroom(PressroomError):
    """What answered is no Pressroom: the address is wrong, or something stands in between."""

    code = "not_pressroom"


class Refused(PressroomError):
    """The service answered with an error. Those of a status that programs often ask for have classes of their own."""

    #: The statuses of each class.
    statuses: ClassVar[frozenset[int]] = frozenset()
    code = "refused"


class InvalidRequest(Refused):
    """The request can't be carried out as it was sent; faulty fields are in `details["details"]`."""

    statuses = frozenset({400, 405, 413, 415, 422})


class Unauthorized(Refused):
    """The API key is missing or unknown."""

    statuses = frozenset({401})


class InsufficientCredits(Refused):
    """The account can't pay; `details` has `credits_required` and `credits_remaining`. Nothing was charged."""

    statuses = frozenset({402})


class Forbidden(Refused):
    """This key may not do that, or its account is suspended."""

    statuses = frozenset({403})


class NotFound(Refused):
    """There is no such thing, or it is another account's."""

    statuses = frozenset({404})


class Conflict(Refused):
    """The thing is not in a state for this, such as a job without a result."""

    statuses = frozenset({409})


class Gone(Refused):
    """It was kept as long as promised."""

    statuses = frozenset({410})


class RateLimitExceeded(Refused):
    """Too many requests; `retry_after` says for how long."""

    statuses = frozenset({429})


class ServiceUnavailable(Refused):
    """The service, or the way to it, is not ready; `retry_after` may say for how long."""

    statuses = frozenset({502, 503, 504})


_OWN = (
    InvalidRequest,
    Unauthorized,
    InsufficientCredits,
    Forbidden,
    NotFound,
    Conflict,
    Gone,
    RateLimitExceeded,
    ServiceUnavailable,
)
_BY_STATUS: dict[int, type[Refused]] = {status: error for error in _OWN for status in error.statuses}


def refusal(status: int, document: Mapping[str, Any], retry_after: timedelta | None = None) -> Refused:
    """Return the error that an answer's status and document are."""
    known = {"error", "message", "code", "request_id"}
    return _BY_STATUS.get(status, Refused)(
        str(document.get("message") or document.get("error") or f"The service answered {status}."),
        code=document.get("code"),
        status=status,
        details={name: value for name, value in document.items() if name not in known},
        request_id=document.get("request_id"),
        retry_after=retry_after,
    )
