"""Refusals: what is refused before there is a request, because its head or framing can't be read, or is too slow."""

from http import HTTPStatus

from pipeline.errors import InvalidRequest, PressroomError

#: By the status that gunicorn chooses: title, code, and what helps.
REMEDIES: dict[int, tuple[str, str, str]] = {
    HTTPStatus.BAD_REQUEST: (InvalidRequest.title, "request_unreadable", "Send it as RFC 9112 says."),
    HTTPStatus.REQUEST_URI_TOO_LONG: ("URI Too Long", "request_line_too_long", "Send long texts in a body."),
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: (
        "Request Header Fields Too Large",
        "headers_too_large",
        "Send fewer or shorter ones.",
    ),
    HTTPStatus.NOT_IMPLEMENTED: (
        "Not Implemented",
        "transfer_coding_unknown",
        "Send the body chunked, or with a Content-Length.",
    ),
    HTTPStatus.UPGRADE_REQUIRED: (InvalidRequest.title, "upgrade_not_taken", "Send the request without Upgrade."),
}


class Refusal(InvalidRequest):
    """A request that can't be read; its status may differ from that of other invalid ones."""

    def __init__(self, status: HTTPStatus, title: str, code: str, message: str) -> None:
        super().__init__(message, code=code)
        self.status, self.title = status, title


def too_slow(code: str, message: str) -> Refusal:
    """Return the error for a head or body that does not come in time."""
    return Refusal(HTTPStatus.REQUEST_TIMEOUT, "Request Timeout", code, message)


def refusal_of(status: int, reason: str) -> PressroomError:
    """Return what gunicorn refuses, in our words; `reason` is gunicorn's."""
    if status not in REMEDIES:
        return PressroomError("Something went wrong here; it was noted. Try again later.")
    title, code, remedy = REMEDIES[status]
    # HTTP has no status for this one without a protocol to upgrade to.
    shown = HTTPStatus.BAD_REQUEST if status == HTTPStatus.UPGRADE_REQUIRED else HTTPStatus(status)
    return Refusal(shown, title, code, f"The request can't be read: {reason.rstrip('.')}. {remedy}")
