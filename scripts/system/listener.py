"""Listener: the API's socket, which the supervisor keeps open while the API restarts."""

import asyncio
import errno
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import chain, repeat

from pipeline.errors import InvalidRequest, NotReady

#: Connections that wait while the API restarts; the kernel's own limit may be lower.
BACKLOG = 2048
MAX_PORT = 65_535


@contextmanager
def listening(host: str, port: int, *, any_port: bool, patience: timedelta) -> Iterator[socket.socket]:
    """Open the API's socket. A taken port is retried for `patience`; then `any_port` takes a free one.

    Raises NotReady, InvalidRequest."""
    if not 0 <= port <= MAX_PORT:
        raise InvalidRequest(f"There is no port {port}: choose 0, which means any, to {MAX_PORT:,}.")
    until = time.monotonic() + patience.total_seconds()
    while True:
        try:
            listener = _listen(host, port)
            break
        except OSError as error:
            if error.errno == errno.EADDRINUSE and time.monotonic() < until:
                time.sleep(0.1)
            elif error.errno == errno.EADDRINUSE and any_port:
                port = 0
            else:
                raise NotReady(
                    f"Port {port} of {host} can't be opened: {error.strerror}. Choose another with --port."
                ) from error
    with listener:
        yield listener


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


def reachable(listener: socket.socket) -> tuple[str, int]:
    """Return the listener's host and port as this machine reaches them."""
    host, port = listener.getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104  # compared, not bound


async def becomes_ready(listener: socket.socket, patience: timedelta) -> bool:
    """Return whether GET /readyz answers 200 within `patience`."""
    with suppress(TimeoutError):
        async with asyncio.timeout(patience.total_seconds()):
            for pause in chain((0.02,) * 100, repeat(0.2)):
                if await _is_ready(listener):
                    return True
                await asyncio.sleep(pause)
    return False


async def _is_ready(listener: socket.socket) -> bool:
    host, port = reachable(listener)
    try:
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return (await reader.readline()).split()[1:2] == [b"200"]
        finally:
            writer.close()
    except OSError:
        return False
