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

#: How long a stopping process waits for the first request on a connection: a round trip around the world.
FIRST_REQUEST_SECONDS = 1.0
#: Redis answers in well under a millisecond; after this time it counts as away.
REDIS_TIMEOUT_SECONDS = 1.0
#: redis-py stops at 100 by default and then raises.
REDIS_CONNECTIONS = 1_000


class Worker(ASGIWorker):  # type: ignore[misc]  # gunicorn has no types
    """Gunicorn's ASGI worker, which ends all waits on SIGTERM."""

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        """Import once, in the master: saves each process 0.15 s and its memory."""
        super().check_config(cfg, log)
        import_parts()

    def init_process(self) -> None:
        """Start; the process dies with gunicorn's master."""
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
        # PRESSROOM_API__TRUSTED_PROXIES decides; gunicorn would trust all of loopback.
        self.cfg.set("secure_scheme_headers", {})
        name_statuses()
        super().init_process()

    def handle_exit_signal(self) -> None:
        """Stop: end all waits and close idle connections."""
        super().handle_exit_signal()
        self.asgi.drain()
        self.loop.call_later(READ_SECONDS, partial(self._close_idle, new=False))
        self.loop.call_later(FIRST_REQUEST_SECONDS, partial(self._close_idle, new=True))

    def _close_idle(self, *, new: bool) -> None:
        """Close idle connections, after reading what had arrived.

        `new`: also those without a first request, which may be on its way."""
        for connection in [*self.connections]:
            if new or not connection.is_new:
                connection.close_if_idle()


def name_statuses() -> None:
    """Complete gunicorn's status phrases, which say "402 Unknown". The table is private and may vanish."""
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
            # Once more, on a new connection, after a restart of Redis; the default retries for seconds.
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
