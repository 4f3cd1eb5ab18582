"""Web: guarded requests whose answer is told as it is: its status, its headers, the redirects before it."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver
from multidict import CIMultiDictProxy
from yarl import URL

from pipeline.downloads.addresses import Reach
from pipeline.downloads.connecting import SocketFactory, open_session, plain_socket
from pipeline.downloads.failures import REMEDY, failure_of
from pipeline.downloads.slots import DownloadSlots
from pipeline.downloads.targets import REDIRECTS, Refused, location_of, read_target, shown
from pipeline.settings.fields import FetchSettings


@dataclass(frozen=True, slots=True)
class Redirect:
    """A URL that answered with another one."""

    url: str
    status: int


class Unfetched(Exception):
    """Nothing came from a URL. `code` is invalid, blocked, unreachable or redirects; `redirects` those before it.

    `is_passing`: the same request may succeed a little later."""

    def __init__(
        self, code: str, message: str, redirects: tuple[Redirect, ...] = (), *, is_passing: bool = False
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.redirects = redirects
        self.is_passing = is_passing


@dataclass(frozen=True, slots=True)
class Opened:
    """An answer whose body has not been read yet; `url` is that of the last redirect."""

    url: str
    status: int
    headers: CIMultiDictProxy[str]
    redirects: tuple[Redirect, ...]
    _response: aiohttp.ClientResponse

    async def chunks(self, *, pace: FetchSettings | None = None) -> AsyncIterator[bytes]:
        """Yield the body, unpacked, in pieces. Raises Unfetched, also if it comes more slowly than `pace` allows."""
        size, began = 0, time.monotonic()
        try:
            while chunk := await self._response.content.readany():
                size, taken = size + len(chunk), time.monotonic() - began
                if pace and taken > pace.stall_seconds and size < taken * pace.least_bytes_per_second:
                    said = f"{shown(self.url)} comes too slowly: {size:,} bytes in {taken:.0f} s."
                    raise Unfetched("unreachable", said, self.redirects)
                yield chunk
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _unreachable(error, self.url, self.redirects) from error

    async def read(self, limit: int) -> bytes:
        """Return the body's first `limit` bytes. Raises Unfetched."""
        body = bytearray()
        async for chunk in self.chunks():
            body += chunk
            if len(body) >= limit:
                break
        return bytes(body[:limit])


class Web:
    """Asks for URLs within one event loop, and connects to allowed addresses alone; an async context manager."""

    def __init__(
        self,
        settings: FetchSettings,
        *,
        user_agent: str,
        per_host: int,
        accept: str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        resolver: AbstractResolver | None = None,
        open_socket: SocketFactory = plain_socket,
    ) -> None:
        """Allow so many requests at once `per_host`. Raises NotReady."""
        self._settings = settings
        self._reach = Reach(settings.allow_networks)
        self._slots = DownloadSlots(settings.downloads, per_host)
        self._open = partial(
            open_session, settings, self._reach, resolver, open_socket, user_agent=user_agent, accept=accept
        )
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    @asynccontextmanager
    async def open(self, text: str, *, on_turn: Callable[[], None] = lambda: None) -> AsyncIterator[Opened]:
        """Ask for a URL, follow its redirects, and give the last answer while the block lasts. Raises Unfetched.

        `on_turn` is called whenever a request is made, after it has waited for others of ours."""
        url = self._target(text)
        trail: tuple[Redirect, ...] = ()
        while len(trail) <= self._settings.redirects:
            async with self._slots.at(url.raw_host or ""):
                on_turn()
                response = await self._get(url, trail)
                try:
                    location = response.headers.get("Location")
                    if response.status not in REDIRECTS or location is None:
                        yield Opened(str(url), response.status, response.headers, trail, response)
                        return
                finally:
                    response.release()  # one that was not read to its end is closed
            trail = (*trail, Redirect(str(url), response.status))
            url = self._next(url, location, trail)
        raise Unfetched(
            "redirects", f"{shown(text)} redirects more than {self._settings.redirects} times, or in a circle.", trail
        )

    async def _get(self, url: URL, trail: tuple[Redirect, ...]) -> aiohttp.ClientResponse:
        if self._session is None:
            raise RuntimeError("Used outside of its block.")
        try:
            return await self._session.get(url, allow_redirects=False)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _unreachable(error, str(url), trail) from error

    def _target(self, text: str) -> URL:
        try:
            return read_target(text, self._reach)
        except Refused as refused:
            said = f"{shown(text)} can't be fetched: {refused.why}."
            if refused.is_forbidden:
                raise Unfetched("blocked", f"{said} {REMEDY}") from None
            raise Unfetched("invalid", said) from None

    def _next(self, url: URL, location: str, trail: tuple[Redirect, ...]) -> URL:
        try:
            return read_target(location_of(str(url), location), self._reach)
        except (Refused, ValueError) as error:
            why = error.why if isinstance(error, Refused) else "it can't be read"
            said = f"{shown(str(url))} redirects to {shown(location)}, which is not followed: {why}. {REMEDY}"
            raise Unfetched("blocked", said, trail) from error


def _unreachable(error: Exception, url: str, trail: tuple[Redirect, ...]) -> Unfetched:
    failure = failure_of(error, shown(url))
    code = "blocked" if failure.is_forbidden else "unreachable"
    return Unfetched(code, failure.message, trail, is_passing=failure.is_passing)
