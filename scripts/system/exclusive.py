"""Exclusive: what a running system has for itself, its data folder and its port."""

import errno
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from pipeline.errors import InvalidRequest, NotReady
from scripts.system.embedded import private_folder

#: Connections that wait while the API starts again; the kernel's own limit may be lower.
BACKLOG = 2048
MAX_PORT = 65_535


@contextmanager
def only_system(data: Path) -> Iterator[None]:
    """Hold DATA for this process alone."""
    descriptor = os.open(private_folder(data) / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise NotReady(
            f"A system is running on {data} already. Stop it, or choose another folder with --data."
        ) from None
    else:
        yield
    finally:
        os.close(descriptor)


@contextmanager
def listening(host: str, port: int, *, any_port: bool, patience: timedelta) -> Iterator[socket.socket]:
    """Open the API's socket here, so that clients wait, and aren't refused, while the API starts again.

    A port that is taken is tried for as long as `patience`; with `any_port`, another is taken then."""
    if not 0 <= port <= MAX_PORT:
        raise InvalidRequest(f"There is no port {port}: ports go from 0, which means any, to {MAX_PORT:,}.")
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
    """Return a host and port that reach the listener from this machine."""
    host, port = listener.getsockname()[:2]
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104  # compared, not bound
