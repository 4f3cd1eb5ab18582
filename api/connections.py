"""Connections: gunicorn's, with a limit for a request's head, and closed at the end when nothing is under way."""

import asyncio
from typing import Any

from gunicorn.asgi.protocol import ASGIProtocol


class Connection(ASGIProtocol):  # type: ignore[misc]  # gunicorn has no types
    """One connection. `_awaiting_request` and `_keepalive_timeout` are gunicorn's own; `tests/api` notice their end."""

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin; who sends no whole head is not waited for longer than the worker says."""
        super().connection_made(transport)
        self.worker.connections.add(self)
        self._head_timer = self.worker.loop.call_later(self.worker.header_seconds, self._limit_head)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        if self._head_timer is not None:
            self._head_timer.cancel()
        self.worker.connections.discard(self)
        super().connection_lost(exc)

    def close_if_idle(self) -> None:
        """Close the connection, unless a request is being answered on it."""
        if self._awaiting_request and not self._finishing_calls:
            self._keepalive_timeout()

    def _limit_head(self) -> None:
        """Close a connection whose first request has not begun; later ones have the limit of an idle connection."""
        if self.req_count <= 1:
            self.close_if_idle()
