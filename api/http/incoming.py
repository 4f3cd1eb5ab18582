"""Incoming: a request's body as it comes from the network, and how long it may take."""

from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any

from api.http.connections import too_slow

#: A body is looked at whenever it was waited for so many seconds, and must have come with so many bytes a second since
#: the last look. Without it a byte now and then keeps a connection open for ever, and with it what has come.
GRACE_SECONDS, LEAST_RATE = 30.0, 1_000

#: ASGI's channel on which a request's body comes.
Receive = Callable[[], Awaitable[Mapping[str, Any]]]


class Incoming:
    """A `receive` of a body; `has_ended` once all of it was received."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._waited = 0.0
        #: Bytes that have come since the last look.
        self._bytes = 0
        self.has_ended = False
        self._is_refused = False

    async def __call__(self) -> Mapping[str, Any]:
        """Return what comes next. Raises Refusal, once; only the time counts in which the body is waited for."""
        if self._is_refused:
            return {"type": "http.disconnect"}
        began = monotonic()
        message = await self._receive()
        if message["type"] != "http.request":  # the client has left
            return message
        self._waited += monotonic() - began
        self._bytes += len(message.get("body", b""))
        self.has_ended = not message.get("more_body", False)
        if not self.has_ended and self._waited > GRACE_SECONDS:
            if self._bytes < LEAST_RATE * self._waited:
                self._is_refused = True
                raise too_slow(
                    "body_too_slow",
                    f"Only {self._bytes:,} bytes have arrived within {self._waited:.0f} seconds; "
                    f"send the body with {LEAST_RATE:,} bytes a second or more.",
                )
            self._waited, self._bytes = 0.0, 0
        return message
