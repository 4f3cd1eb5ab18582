"""Errors: refusals of the service, and answers that did not arrive."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

#: Longest Retry-After that is read as it is; nobody waits for it.
LONGEST_WAIT = timedelta(days=30)
#: `int` refuses thousands of digits; a number with more than these is beyond LONGEST_WAIT.
MAX_DIGITS = 9


class PressroomError(Exception):
    """A request that failed.

    `code` never changes, so programs can match on it (docs/api.md, Errors). `status` is the answer's HTTP status,
    `details` has the other fields of its body, and an operator finds the request by `request_id`."""

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
    """The server is no Pressroom: the address is wrong, or a proxy answered."""

    code = "not_pressroom"


class Refused(PressroomError):
    """The service answered with an error. Statuses that programs often match have classes of their own."""

    #: The statuses of each class.
    statuses: ClassVar[frozenset[int]] = frozenset()
    code = "refused"


class InvalidRequest(Refused):
    """The request is faulty; `details["details"]` names the fields."""

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
    """It does not exist, or belongs to another account."""

    statuses = frozenset({404})


class Conflict(Refused):
    """Its state does not allow this, such as the result of a running job."""

    statuses = frozenset({409})


class Gone(Refused):
    """It has expired."""

    statuses = frozenset({410})


class RateLimitExceeded(Refused):
    """Too many requests; wait for `retry_after`."""

    statuses = frozenset({429})


class ServiceUnavailable(Refused):
    """The service is not ready, or not reachable; `retry_after` may say when to try again."""

    statuses = frozenset({502, 503, 504})


_BY_STATUS = {status: error for error in Refused.__subclasses__() for status in error.statuses}


def refusal(status: int, document: Mapping[str, Any], retry_after: str = "") -> Refused:
    """Return the error for an answer's status, JSON document and Retry-After header."""
    known = {"error", "message", "code", "request_id"}
    return _BY_STATUS.get(status, Refused)(
        str(document.get("message") or document.get("error") or f"The service answered {status}."),
        code=document.get("code"),
        status=status,
        details={name: value for name, value in document.items() if name not in known},
        request_id=document.get("request_id"),
        retry_after=_waiting_time(retry_after.strip()),
    )


def _waiting_time(header: str) -> timedelta | None:
    """Return the time in a Retry-After header, which has seconds or a date; None if it has neither."""
    if header.isascii() and header.isdecimal():
        return min(LONGEST_WAIT, timedelta(seconds=int(header))) if len(header) <= MAX_DIGITS else LONGEST_WAIT
    try:
        until = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return min(LONGEST_WAIT, max(timedelta(), until - datetime.now(UTC)))
