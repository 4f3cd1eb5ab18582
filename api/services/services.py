"""Services: shared by the resources of a process, with its background tasks."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

import falcon.asgi
import redis.asyncio

from api.http.address import counted_address, read_networks
from api.http.cookies import Cookies
from api.http.error_forms import ErrorForm
from api.http.request_context import context_of
from api.services.auth import Authenticator, header_key, query_key
from api.services.key_routes import require_route
from api.services.links import Links
from api.services.offer_cache import OfferCache, Searches
from api.services.sessions import Sessions
from api.services.streaming import Streams
from api.services.waiting import WaitingRequests
from pipeline.accounts.keys import Caller
from pipeline.database import AsyncDatabase
from pipeline.database.coalescing import Coalescer, StatementCoalescer
from pipeline.limits.rate_limits import RateLimits
from pipeline.log import get_logger, held
from pipeline.operations.metrics import Metrics
from pipeline.operations.processes import ProcessReporter
from pipeline.registry import Kinds
from pipeline.settings import Settings
from pipeline.storage import streams
from pipeline.storage.artifacts import Artifacts
from pipeline.tracing.tracing import open_tracer
from pipeline.wakes import notices
from pipeline.wakes.broker import add_wake
from pipeline.wakes.redis_away import REDIS_AWAY

log = get_logger(__name__)
#: How often metrics are sent.
FLUSH_EVERY_SECONDS = 1.0
#: Longest read of notices, and the pause after Redis failed.
NOTICE_SECONDS = 1.0


class Waker:
    """Sends wake-ups one at a time; those of one queue that are due meanwhile become one."""

    def __init__(self, client: "redis.asyncio.Redis") -> None:
        self._client = client
        self._queues: Coalescer[str, None] = Coalescer(self._send)

    def wake(self, queue: str) -> None:
        """Wake a queue's pool soon; call it after the commit."""
        self._queues.ask(queue)

    async def _send(self, queues: list[str]) -> list[None]:
        for queue in dict.fromkeys(queues):
            await self._send_one(queue)
        return [None] * len(queues)

    async def _send_one(self, queue: str) -> None:
        pipe = self._client.pipeline(transaction=False)
        add_wake(pipe, queue)
        try:
            await pipe.execute()
        except REDIS_AWAY as error:
            # The pool looks by itself within a second.
            log.warning("wake-up not sent", queue=queue, error=str(error))


class Services:
    """Built once by create_app. As a Falcon middleware it starts and stops with the process."""

    def __init__(
        self,
        settings: Settings,
        *,
        database: AsyncDatabase,
        client: "redis.asyncio.Redis",
        artifacts: Artifacts,
        kinds: Kinds,
    ) -> None:
        self.settings = settings
        self.database = database
        self.submissions = StatementCoalescer(database)
        self.deliveries = StatementCoalescer(database)
        self.client = client
        self.artifacts = artifacts
        self.kinds = kinds
        self.metrics = Metrics()
        self.tracer = open_tracer(settings, "api")
        self._telling = ProcessReporter(lambda: "api", settings)
        self.limits = RateLimits(client, settings.limits)
        self.authenticator = Authenticator(database, self.limits, max_age_seconds=settings.api.key_max_age_seconds)
        self.waiting = WaitingRequests(database, capacity=settings.api.max_waiting)
        self.streams = Streams(database, artifacts)
        self.waker = Waker(client)
        self.offer_cache = OfferCache(database, settings)
        self.proxies = read_networks(settings.api.trusted_proxies)
        self.cookies = Cookies(self.proxies)
        self.sessions = Sessions(database, settings.dashboard, self.cookies, self.proxies)
        self.links = Links(database)
        #: By the beginnings of the paths that have them; set by create_app.
        self.error_forms: dict[str, ErrorForm] = {}
        #: Large requests are checked one at a time: several threads would slow down the event loop.
        self.large_requests = asyncio.Semaphore(1)
        self.searches = Searches(database)
        #: The routes that a key can be limited to; set by create_app.
        self.key_routes: tuple[str, ...] = ()
        self._background: list[asyncio.Task[None]] = []

    async def process_startup(self, scope: dict[str, Any], event: dict[str, Any]) -> None:
        held.begin()
        await self.database.open()
        for work in self._endless():
            self._start(work)

    async def process_shutdown(self, scope: dict[str, Any], event: dict[str, Any]) -> None:
        """Stop the background tasks, and send the last metrics."""
        # redis-py may take a cancellation for a time-out of its own, and go on: it is told again.
        while left := [task for task in self._background if not task.done()]:
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=0.1)
        await self.limits.close()
        with contextlib.suppress(*REDIS_AWAY):
            await self.metrics.flush_async(self.client)
            await self._telling.end_async(self.client)
        await asyncio.to_thread(self.tracer.close)
        await self.client.aclose()
        await self.database.close()
        held.end()

    async def authenticate(self, req: falcon.asgi.Request, key: object) -> Caller:
        """Return the caller by key or, without one, by the dashboard's cookie.

        Raises Unauthorized, RateLimitExceeded, Forbidden, or CsrfTokenInvalid."""
        if not key and (session := await self.sessions.of_api_request(req)) is not None:
            return session.caller
        caller = await self.authenticator.caller(key, address=lambda: counted_address(req, self.proxies))
        context = context_of(req)
        context.caller = caller
        require_route(caller, context.route)
        return caller

    async def authenticate_reader(self, req: falcon.asgi.Request, body_key: object = None) -> Caller:
        """Return the caller of a request that counts towards no limit, and set the rate limit headers."""
        key = header_key(req) or (query_key(req) if body_key is None else body_key)
        caller = await self.authenticate(req, key)
        await self.show_rate_limit(req, caller)
        return caller

    async def show_rate_limit(self, req: falcon.asgi.Request, caller: Caller) -> None:
        rate_limit = await self.limits.status(caller)
        context_of(req).headers.update(rate_limit.headers())

    async def note_refusal(self, req: falcon.asgi.Request) -> None:
        """Set the rate limit headers of an error, if the caller is known."""
        context = context_of(req)
        if context.caller is not None and "x-ratelimit-limit" not in context.headers:
            await self.show_rate_limit(req, context.caller)

    def _endless(self) -> list[Coroutine[Any, Any, None]]:
        return [self._listen(), self.waiting.look(), self.streams.look(), self.authenticator.touch(), self._flush()]

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        task.add_done_callback(_report_end)
        self._background.append(task)

    async def _listen(self) -> None:
        while True:
            try:
                await self._hear()
            except REDIS_AWAY as error:
                log.warning("notices out of reach, waiting for queries", error=str(error))
                await asyncio.sleep(NOTICE_SECONDS)

    async def _hear(self) -> None:
        """Pass on notices of ended jobs and of streams' parts."""
        async with self.client.pubsub(ignore_subscribe_messages=True) as pubsub:
            await pubsub.subscribe(notices.CHANNEL, streams.CHANNEL)
            while True:
                message = await pubsub.get_message(timeout=NOTICE_SECONDS)
                if message is None:
                    continue
                if message["channel"] == streams.CHANNEL.encode():
                    self.streams.tell(*streams.read_part_notice(message["data"]))
                    continue
                ended = notices.read_notice(message["data"])
                self.waiting.tell(ended)
                for job_id in ended:
                    self.streams.tell(job_id, has_ended=True)

    async def _flush(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_EVERY_SECONDS)
            with contextlib.suppress(*REDIS_AWAY):
                await self.metrics.flush_async(self.client)
                await self._telling.send_async(self.client)


def _report_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("background work ended", exc_info=task.exception())
