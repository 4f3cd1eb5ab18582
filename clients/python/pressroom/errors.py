"""Errors: refusals of the service, and answers that did not arrive."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

#: Longest Retry-After that is read as it is; nobody waits for it.
LONGEST_WAIT = timedelta(days=30)
#: `int` refuses thousands of digits; a number with more than these is beyond LONGEST_WAIT.
MAX_DIGITS = 9


class PressroomError(Exception):
    """A request that failed.

    `code` never changes, so programs can match on it (docs/api.md, Errors). `address` is the URL that was asked,
    `status` the answer's HTTP status, `details` has the other fields of its body, and an operator finds the request by
    `request_id`."""

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
        address: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.status = status
        self.details: Mapping[str, Any] = details or {}
        self.request_id = request_id
        self.retry_after = retry_after
        self.address = address

    def __str__(self) -> str:
        return f"{self.message} [{self.code}{f', {self.address}' if self.address else ''}]"


class ConnectionLost(PressroomError):
    """The service could not be reached, or its answer broke off."""

    code = "connection_lost"


class NotPressroom(PressroomError):
    """The server is not Pressroom: the address is wrong, or a proxy answered."""

    code = "not_pressroom"


class Refused(PressroomError):
    """The service answered with an error. Statuses that programs often match have classes of their own."""

    code = "refused"
    _by_status: ClassVar[dict[int, type["Refused"]]] = {}

    def __init_subclass__(cls, statuses: Iterable[int] = ()) -> None:
        cls._by_status.update(dict.fromkeys(statuses, cls))

    @classmethod
    def of_status(cls, status: int) -> type["Refused"]:
        """Return the class for an HTTP status."""
        return cls._by_status.get(status, Refused)


class InvalidRequest(Refused, statuses={400, 405, 413, 415, 422}):
    """The request is faulty; `details["details"]` names the fields."""


class Unauthorized(Refused, statuses={401}):
    """The API key is missing or unknown."""


class InsufficientCredits(Refused, statuses={402}):
    """The account can't pay; `details` has `credits_required` and `credits_remaining`. Nothing was charged."""


class Forbidden(Refused, statuses={403}):
    """This key may not do that, or its account is suspended."""


class NotFound(Refused, statuses={404}):
    """It does not exist, or belongs to another account."""


class Conflict(Refused, statuses={409}):
    """Its state does not allow this, such as the result of a running job."""


class Gone(Refused, statuses={410}):
    """It has expired."""


class RateLimitExceeded(Refused, statuses={429}):
    """Too many requests; wait for `retry_after`."""


class ServiceUnavailable(Refused, statuses={502, 503, 504}):
    """The service is not ready, or not reachable; `retry_after` may say when to try again."""


def refusal(status: int, document: Mapping[str, Any], retry_after: str = "") -> Refused:
    """Return the error for an answer's status, JSON document and Retry-After header."""
    known = {"error", "message", "code", "request_id"}
    return Refused.of_status(status)(
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
