"""Server: what gunicorn loads, as `gunicorn -k api.server.Worker api.server:app`."""

from collections import Counter
from functools import partial
from http import HTTPStatus
from typing import Any

import redis.asyncio
from gunicorn.asgi import protocol
from gunicorn.workers import gasgi
from gunicorn.workers.gasgi import ASGIWorker
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError  # noqa: A004  redis has its own

from api.app import create_app, import_parts
from api.http.address import read_networks
from api.http.connections import READ_SECONDS, ClientConnection
from api.http.middleware import RequestMiddleware
from pipeline import log
from pipeline.database import AsyncDatabase
from pipeline.operations.child_processes import die_with_parent
from pipeline.registry import load_kinds
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store

#: How long a process that stops waits for the first request on a connection: a way round the world and back.
FIRST_REQUEST_SECONDS = 1.0
#: Redis answers in well under a millisecond; one that does not in this time counts as away.
REDIS_TIMEOUT_SECONDS = 1.0
#: redis-py stops at 100 by default and then raises.
REDIS_CONNECTIONS = 1_000


class Worker(ASGIWorker):  # type: ignore[misc]  # gunicorn has no types
    """Gunicorn's ASGI worker, which ends all waits when it is told to stop."""

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        """Import in the master, once, what each process would import: 0.15 s of a processor, and its memory."""
        super().check_config(cfg, log)
        import_parts()

    def init_process(self) -> None:
        """Start; from here on the process dies with gunicorn's master."""
        die_with_parent()
        settings = Settings().api
        self.connections: set[ClientConnection] = set()
        self.subscribers: Counter[str] = Counter()
        self.header_seconds = settings.header_seconds
        self.unread_seconds = settings.unread_seconds
        self.connections_per_address = settings.connections_per_address
        self.trusted_proxies = read_networks(settings.trusted_proxies)
        gasgi.ASGIProtocol = ClientConnection  # gunicorn has no setting for it
        self.cfg.set("keepalive", settings.keep_alive_seconds)
        # PRESSROOM_API__TRUSTED_PROXIES says which proxies may set the scheme; gunicorn would trust all of loopback.
        self.cfg.set("secure_scheme_headers", {})
        name_statuses()
        super().init_process()

    def handle_exit_signal(self) -> None:
        """Stop: no request waits for longer than this, and clients that keep a connection are not waited for."""
        super().handle_exit_signal()
        self.asgi.drain()
        self.loop.call_later(READ_SECONDS, partial(self._close_idle, new=False))
        self.loop.call_later(FIRST_REQUEST_SECONDS, partial(self._close_idle, new=True))

    def _close_idle(self, *, new: bool) -> None:
        """Close the connections on which nobody has asked; what had come when the process was told to stop is read.

        `new`: also those on which no request has come at all, whose first one may be on its way."""
        for connection in [*self.connections]:
            if new or not connection.is_new:
                connection.close_if_idle()


def name_statuses() -> None:
    """Let status lines carry HTTP's own phrases.

    Gunicorn's table is short and says "402 Unknown". It is private: where it is gone, that is all that comes back."""
    phrases = getattr(protocol, "_REASON_PHRASES", {})
    for status in HTTPStatus:
        phrases.setdefault(status.value, status.phrase)


def application() -> RequestMiddleware:
    """Return the application that the environment describes."""
    settings = Settings()
    log.configure(settings)
    database_url, redis_url = settings.server_urls()
    return create_app(
        settings,
        database=AsyncDatabase(
            database_url,
            connections=settings.api.database_connections,
            prepare=settings.database.prepare,
        ),
        client=redis.asyncio.Redis.from_url(
            redis_url,
            socket_timeout=REDIS_TIMEOUT_SECONDS,
            socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
            max_connections=REDIS_CONNECTIONS,
            # Once more, on a new connection, as the old one may be from before a restart; by default it would try for
            # seconds while requests wait.
            retry=Retry(NoBackoff(), 1, supported_errors=(ConnectionError,)),
        ),
        artifacts=Artifacts(open_store(settings)),
        kinds=load_kinds(settings),
    )


def __getattr__(name: str) -> RequestMiddleware:
    """Build `app` when a worker asks for it: the master imports this module for the worker's class alone."""
    if name != "app":
        raise AttributeError(name)
    return application()
