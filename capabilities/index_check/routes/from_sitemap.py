"""From sitemap: gives a request with a sitemap its URLs, before it is priced and becomes a job."""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from uuid import UUID

import falcon.asgi
from pydantic import BaseModel

from api.http.bodies.forms import Upload
from api.services.services import Services
from api.work.preferences import read_idempotency_key
from api.work.submitting import Order
from api.work.work import Work
from capabilities.index_check.requests.request import IndexCheckRequest
from capabilities.index_check.settings import SearchSettings
from pipeline.accounts.keys import Caller
from pipeline.errors import InvalidRequest, RateLimitExceeded, ServiceUnavailable
from pipeline.kind import AnyKind
from pipeline.lifecycle.jobs import find_replay
from pipeline.settings import Settings

#: Sitemaps of one account that a process reads at once, so that slow servers leave room for other accounts.
PER_ACCOUNT = 2
#: Retry-After when there is no room.
COME_AGAIN = timedelta(seconds=10)


class FromSitemap(Work):
    """POST of index checks, with URLs or a sitemap.

    The sitemap is read before the job is made, so that its price is known and an unreadable one costs nothing. Threads
    with event loops of their own read it, while the process answers others."""

    def __init__(self, services: Services, kind: AnyKind, route: str) -> None:
        super().__init__(services, kind, route)
        self._at_once = services.settings.of(SearchSettings).sitemap.at_once
        self._threads = ThreadPoolExecutor(self._at_once, "sitemaps")
        self._reading: Counter[UUID] = Counter()

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        if not isinstance(request, IndexCheckRequest) or request.sitemap_url is None:
            return await super()._order_of(req, caller, request, upload)
        if request.urls:
            raise InvalidRequest("urls and sitemap_url can't both be sent: leave one of them out.", field="sitemap_url")
        sent = _hash(request)
        if await self._was_made(req, caller, sent):
            # The job has its URLs; if it is deleted at this moment, a URL that costs nothing is checked.
            found = {"urls": [""], "skip_invalid": True}
        else:
            found = {"urls": await self._pages(caller, request.sitemap_url)}
        order = await super()._order_of(req, caller, request.model_copy(update=found), upload)
        # The hash of what was sent: a sitemap changes, but a repeated request is the same.
        return replace(order, submission=replace(order.submission, request_hash=sent))

    async def _was_made(self, req: falcon.asgi.Request, caller: Caller, sent: bytes) -> bool:
        """Return whether the request is a repeated one, whose sitemap need not be read."""
        key = read_idempotency_key(req)
        if key is None:
            return False
        window = timedelta(hours=self._services.settings.limits.idempotency_hours)
        replay = find_replay(
            caller.account_id, route=self._route, idempotency_key=key, request_hash=sent, window=window
        )
        return await self._services.database.run(replay)

    async def _pages(self, caller: Caller, sitemap_url: str) -> list[str]:
        async with self._turn(caller.account_id):
            read = partial(_read, sitemap_url, self._services.settings)
            return await asyncio.get_running_loop().run_in_executor(self._threads, read)

    @asynccontextmanager
    async def _turn(self, account_id: UUID) -> AsyncIterator[None]:
        """Hold one of the threads. Raises ServiceUnavailable, RateLimitExceeded."""
        if self._reading[account_id] >= PER_ACCOUNT:
            message = f"{PER_ACCOUNT} sitemaps of this account are being read; wait for one of them, or send the URLs."
            raise RateLimitExceeded(message, code="too_many_sitemaps", retry_after=COME_AGAIN)
        if self._reading.total() >= self._at_once:
            message = "Too many sitemaps are being read at the moment. Try again soon, or send the URLs."
            raise ServiceUnavailable(message, code="sitemaps_busy", retry_after=COME_AGAIN)
        self._reading[account_id] += 1
        try:
            yield
        finally:
            self._reading[account_id] -= 1
            self._reading += Counter()  # drops zeros


def _read(sitemap_url: str, settings: Settings) -> list[str]:
    # aiohttp, which takes a fifth of a second, and few processes need
    from capabilities.index_check.sitemaps.reading import list_pages

    return list_pages(sitemap_url, settings)


def _hash(request: IndexCheckRequest) -> bytes:
    fields = request.model_dump(mode="json", exclude_unset=True)
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).digest()
