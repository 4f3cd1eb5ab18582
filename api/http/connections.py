"""Connections: gunicorn's, with limits for heads, unread answers and addresses.

Requests that gunicorn itself refuses are answered, logged and counted like all others."""

import asyncio
import fcntl
import re
import socket
import struct
import termios
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from gunicorn.asgi.protocol import ASGIProtocol

from api.http.address import is_uncounted, subscriber_of
from pipeline.errors import InvalidRequest, PressroomError, RateLimitExceeded
from pipeline.log import get_logger

log = get_logger(__name__)

#: Time for which bytes of a refused client are dropped; unread, they would cost it its answer.
LINGER_SECONDS = 1.0
#: uvloop runs due timers before it reads.
READ_SECONDS = 0.05
#: Scheme and host before a path.
ABSOLUTE = re.compile(r"https?://[^/?#]*", re.IGNORECASE)
ABSOLUTE_BYTES = re.compile(rb"https?://[^/?#]*", re.IGNORECASE)


class ClientConnection(ASGIProtocol):  # type: ignore[misc]  # gunicorn has no types
    """One connection. Private names not defined here are gunicorn's; `tests/api` notice if they go."""

    _head_timer: asyncio.TimerHandle | None = None
    #: Number of the request whose head is timed.
    _timed_head = 0
    #: The address or network that the connection counts for.
    _subscriber: str | None = None
    #: Bytes of a head have arrived.
    _has_begun = False
    #: An answer announced that it is the last.
    _is_last = False
    _closed: bool
    #: The client was refused, and has a moment to read why.
    _is_lingering = False
    _unread_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.worker.connections.add(self)
        self._time_head(1)
        self._count(transport.get_extra_info("peername"))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
        self._stop_looking_at_unread()
        self.worker.connections.discard(self)
        if self._subscriber is not None:
            self.worker.subscribers[self._subscriber] -= 1
            if not self.worker.subscribers[self._subscriber]:
                del self.worker.subscribers[self._subscriber]
            self._subscriber = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_lingering:
            return
        self._has_begun = True
        super().data_received(data)
        if self._awaiting_request and self.req_count != self._timed_head and not self._request_ready.is_set():
            self._time_head(self.req_count)

    def pause_writing(self) -> None:
        """Stop writing while the client does not read, for a limited time."""
        super().pause_writing()
        self._look_at_unread()

    def resume_writing(self) -> None:
        """Go on writing; a closing connection ends once all was read."""
        self._stop_looking_at_unread()
        if self._closed:
            self._look_at_unread()
        super().resume_writing()

    @property
    def is_new(self) -> bool:
        return bool(self.req_count <= 1)

    def close_if_idle(self) -> None:
        """Close the connection, unless a request is being answered or was just read."""
        if self._awaiting_request and not self._finishing_calls and not self._request_ready.is_set():
            self._keepalive_timeout()

    def _count(self, peer: Any) -> None:
        """Refuse the connection if its address has too many."""
        limit = self.worker.connections_per_address
        address = str(peer[0]) if isinstance(peer, tuple) else ""
        if not limit or is_uncounted(address, self.worker.trusted_proxies):
            return
        self._subscriber = subscriber_of(address)
        self.worker.subscribers[self._subscriber] += 1
        if self.worker.subscribers[self._subscriber] > limit:
            self._refuse(
                RateLimitExceeded(
                    f"This address has {limit:,} connections open, which is the most. Close some, or use them again.",
                    code="too_many_connections",
                    retry_after=timedelta(seconds=1),
                    limit=limit,
                )
            )

    def _time_head(self, number: int) -> None:
        """Limit the time for a request's head."""
        if self._head_timer is not None:
            self._head_timer.cancel()
        self._timed_head = number
        self._head_timer = self.worker.loop.call_later(self.worker.header_seconds, self._look_once_more)

    def _look_once_more(self) -> None:
        """Give up a missing head, after reading what has arrived meanwhile, as in a busy process."""
        self._head_timer = self.worker.loop.call_later(READ_SECONDS, self._limit_head)

    def _limit_head(self) -> None:
        """Refuse an unfinished head; close a connection without one."""
        is_waited_for = self._awaiting_request and not self._request_ready.is_set()
        if self.req_count != self._timed_head or not is_waited_for or self._finishing_calls:
            return
        if self._has_begun:
            seconds = self.worker.header_seconds
            message = f"The head of the request did not end within {seconds:g} seconds. Send it at once."
            self._refuse(too_slow("head_too_slow", message))
        else:
            self._keepalive_timeout()

    def _look_at_unread(self) -> None:
        """Check later whether the client has read anything."""
        self._stop_looking_at_unread()
        if self.transport.get_write_buffer_size():
            seconds = self.worker.unread_seconds
            self._unread_timer = self.worker.loop.call_later(seconds, self._limit_unread, self._unread_bytes())

    def _stop_looking_at_unread(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _limit_unread(self, before: int) -> None:
        """End a connection whose client has read nothing since the last check."""
        if self._unread_bytes() < before:
            self._look_at_unread()
        else:
            log.info("connection ended, its client reads nothing", seconds=self.worker.unread_seconds)
            # Reset, or the system would keep trying to send the rest.
            self.transport.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
            self.transport.abort()

    def _unread_bytes(self) -> int:
        """Return the unread bytes: the transport's and the system's (tcp(7), SIOCOUTQ)."""
        queued = fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, struct.pack("i", 0))
        size: int = self.transport.get_write_buffer_size()
        return size + int(struct.unpack("i", queued)[0])

    def _feed_callback_parser(self, data: bytes) -> bool:
        """Parse the data; return whether the connection goes on."""
        try:
            goes_on: bool = super()._feed_callback_parser(data)
        except ValueError as error:  # a length of more digits than Python reads
            self._send_error_response(HTTPStatus.BAD_REQUEST, str(error))
            self._close_transport()
            return False
        if goes_on and not self._awaiting_request and not self._request_ready.is_set():
            self._time_head(self.req_count + 1)  # a head arrived behind the answered request
        return goes_on

    def _refuse(self, error: PressroomError) -> None:
        self._answer(error)
        self._close_transport()
        self._request_ready.set()

    def _send_error_response(self, status: int, message: str, extra_headers: Any = ()) -> None:
        """Answer in place of gunicorn; `message` is its reason."""
        self._answer(refusal_of(status, message))

    def _answer(self, error: PressroomError) -> None:
        # The loop has taken the request; otherwise it is not answered any more.
        is_noted = bool(self.req_count) and not self._awaiting_request and self._current_request is not None
        headers, body = self.app.refuse(error, is_noted=is_noted)
        status = HTTPStatus(error.status)
        lines = [f"HTTP/1.1 {status.value} {status.phrase}", *(f"{name}: {value}" for name, value in headers.items())]
        self._safe_write("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1") + body)
        self._is_lingering = True

    def _close_transport(self) -> None:
        """Close the connection; give a refused client a moment to read why."""
        if self._closed:
            return
        self._look_at_unread()  # it ends once all was read
        if not self._is_lingering:
            super()._close_transport()
            return
        self._closed = True
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._resume_reading()  # an unwanted body may have paused it
        self.worker.loop.call_later(LINGER_SECONDS, self.transport.close)

    def _build_http_scope(self, request: Any, sockname: Any, peername: Any) -> dict[str, Any]:
        scope: dict[str, Any] = super()._build_http_scope(request, sockname, peername)
        if ABSOLUTE.match(scope["path"]):  # RFC 9112, section 3.2.2: servers accept absolute forms
            scope["path"] = ABSOLUTE.sub("", scope["path"], count=1) or "/"
            scope["raw_path"] = ABSOLUTE_BYTES.sub(b"", scope["raw_path"], count=1) or b"/"
        return scope

    def _send_response_start(self, status: int, headers: Any, request: Any, close: bool = False) -> None:
        is_refusal = status >= HTTPStatus.BAD_REQUEST and (b"connection", b"close") in headers
        # HTTP/1.0 has no chunks: answers without a length end with the connection.
        ends_by_close = request.version < (1, 1) and b"content-length" not in {name.lower() for name, _ in headers}
        if is_refusal or ends_by_close:
            self._is_last = True
        super()._send_response_start(status, headers, request, close or ends_by_close)

    async def _serve_http_request(self, request: Any, sockname: Any, peername: Any) -> bool:
        goes_on = await super()._serve_http_request(request, sockname, peername)
        if self._is_last:
            self._is_lingering = True
        return goes_on and not self._is_last

    def _is_websocket_upgrade(self, request: Any) -> bool:
        """Return False: a server may ignore Upgrade (RFC 9110, section 7.8)."""
        return False


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
    """Return gunicorn's refusal in our words; `reason` is gunicorn's."""
    if status not in REMEDIES:
        return PressroomError("Something went wrong here; it was noted. Try again later.")
    title, code, remedy = REMEDIES[status]
    # HTTP has no status for this one without a protocol to upgrade to.
    shown = HTTPStatus.BAD_REQUEST if status == HTTPStatus.UPGRADE_REQUIRED else HTTPStatus(status)
    return Refusal(shown, title, code, f"The request can't be read: {reason.rstrip('.')}. {remedy}")
