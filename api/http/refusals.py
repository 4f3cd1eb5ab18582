"""Refusals: what is refused before there is a request, because its head or framing can't be read."""

from datetime import timedelta
from http import HTTPStatus

from pipeline.errors import InvalidRequest, PressroomError, RateLimitExceeded


class RequestUnreadable(InvalidRequest):
    """The bytes are not an HTTP request, or its framing is unclear."""

    code = "request_unreadable"


class RequestLineTooLong(InvalidRequest):
    """The path and the query are too long."""

    title = "URI Too Long"
    status = HTTPStatus.REQUEST_URI_TOO_LONG
    code = "request_line_too_long"


class HeadersTooLarge(InvalidRequest):
    """There are too many headers, or one is too long."""

    title = "Request Header Fields Too Large"
    status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    code = "headers_too_large"


class TransferCodingUnknown(InvalidRequest):
    """The body comes in a transfer coding that is not known here."""

    title = "Not Implemented"
    status = HTTPStatus.NOT_IMPLEMENTED
    code = "transfer_coding_unknown"


class UpgradeNotTaken(InvalidRequest):
    """The client asks for another protocol."""

    code = "upgrade_not_taken"


class HeadTooSlow(InvalidRequest):
    """The head of a request did not end in time."""

    title = "Request Timeout"
    status = HTTPStatus.REQUEST_TIMEOUT
    code = "head_too_slow"


class TooManyConnections(RateLimitExceeded):
    """An address keeps too many connections open."""

    code = "too_many_connections"
    retry_after = timedelta(seconds=1)

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"This address has {limit:,} connections open, which is the most. Close some, or use them again.",
            limit=limit,
        )


#: By the status that gunicorn chooses: the error, and what helps.
REMEDIES: dict[int, tuple[type[PressroomError], str]] = {
    HTTPStatus.BAD_REQUEST: (RequestUnreadable, "Send it as RFC 9112 says."),
    HTTPStatus.REQUEST_URI_TOO_LONG: (RequestLineTooLong, "Send long texts in a body."),
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: (HeadersTooLarge, "Send fewer or shorter ones."),
    HTTPStatus.NOT_IMPLEMENTED: (TransferCodingUnknown, "Send the body chunked, or with a Content-Length."),
    HTTPStatus.UPGRADE_REQUIRED: (UpgradeNotTaken, "Send the request without Upgrade."),
}


def refusal_of(status: int, reason: str) -> PressroomError:
    """Return what gunicorn refuses, in our words; `reason` is gunicorn's."""
    if status not in REMEDIES:
        return PressroomError("Something went wrong here; it was noted. Try again later.")
    error, remedy = REMEDIES[status]
    return error(f"The request can't be read: {reason.rstrip('.')}. {remedy}")
