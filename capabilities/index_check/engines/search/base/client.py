"""Client: one HTTP session for all search providers of a process, on its own event loop."""

import asyncio
import threading
import time
from collections.abc import Callable
from urllib.parse import urljoin, urlsplit

import aiohttp

from capabilities.index_check.engines.search.base.provider import Reply, SearchRequest
from capabilities.index_check.engines.search.base.verdict import CHALLENGE_PATHS
from capabilities.index_check.settings import SearchSettings
from pipeline.downloads.connecting import read_most
from workers.engines import EngineUnavailable

#: Redirects that are followed, on the same host alone. Another host wants something of us; that reply is judged.
MAX_REDIRECTS = 3
REDIRECTS = frozenset((301, 302, 303, 307, 308))
#: Seconds between two signs of life while an answer is awaited, and between two looks at `stop`.
SIGN_EVERY = 3.0
LOOK_EVERY = 0.1


class Unreachable(EngineUnavailable):
    """The provider could not be asked: time-out, DNS, TLS, a lost connection."""

    code = "transport"


class RequestStopped(Exception):
    """Nobody wants the answer any more."""


class PageTooLarge(EngineUnavailable):
    """The answer is larger than our limit."""

    code = "page_too_large"


class SearchClient:
    """Sends requests, each once, with the same headers for all. Thread-safe."""

    def __init__(self, settings: SearchSettings) -> None:
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._session: aiohttp.ClientSession | None = None
        self._thread = threading.Thread(target=self._run, name="search", daemon=True)
        self._thread.start()

    def ask(
        self,
        request: SearchRequest,
        *,
        while_waiting: Callable[[], None] = lambda: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Reply:
        """Return a provider's reply, whatever its status.

        Raises Unreachable, PageTooLarge, and RequestStopped once `stop` returns True."""
        coming = asyncio.run_coroutine_threadsafe(self._follow(request), self._loop)
        signed = time.monotonic()
        while True:
            try:
                return coming.result(min(LOOK_EVERY, SIGN_EVERY))
            except TimeoutError:
                if stop():
                    coming.cancel()
                    raise RequestStopped from None
            if time.monotonic() - signed >= SIGN_EVERY:
                signed = time.monotonic()
                while_waiting()

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    async def _close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _follow(self, request: SearchRequest) -> Reply:
        reply = await self._exchange(request)
        for _ in range(MAX_REDIRECTS if request.follows else 0):
            target, asked = urlsplit(reply.location), urlsplit(reply.url)
            # The same scheme as well: a key in a header must not go out unencrypted.
            is_same = (target.scheme, target.netloc) == (asked.scheme, asked.netloc)
            if reply.status not in REDIRECTS or not is_same or target.path.startswith(CHALLENGE_PATHS):
                break
            reply = await self._exchange(SearchRequest(reply.location, headers=request.headers))
        return reply

    async def _exchange(self, request: SearchRequest) -> Reply:
        sending = self._open_session().request(
            request.method,
            request.url,
            params=dict(request.query) or None,
            data=request.form,
            json=request.json,
            headers=request.headers,
            allow_redirects=False,
        )
        try:
            # One deadline for all of it: a page that comes byte by byte would never end.
            async with asyncio.timeout(self._settings.limit_seconds), sending as response:
                body = await self._read(response)
                headers = {name.lower(): value for name, value in response.headers.items()}
                location = _absolute(str(response.url), headers.get("location", ""))
                return Reply(response.status, str(response.url), body, location, headers)
        except TimeoutError as error:
            raise Unreachable(f"No answer within {self._settings.limit_seconds:g} s.") from error
        except (aiohttp.ClientError, OSError) as error:
            raise _lost(error) from None

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        body = await read_most(response, most := self._settings.max_page_bytes)
        if len(body) > most:
            raise PageTooLarge(f"The answer is larger than {most:,} bytes.")
        return body

    def _open_session(self) -> aiohttp.ClientSession:
        # Made inside the loop that it belongs to.
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers={
                    "User-Agent": self._settings.user_agent,
                    "Accept": "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8",
                    "Accept-Language": "en",
                },
                timeout=aiohttp.ClientTimeout(total=None, connect=self._settings.connect_seconds),
                connector=aiohttp.TCPConnector(limit=self._settings.slots),
                middlewares=(_send_once,),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
            )
        return self._session


async def _send_once(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Send a request once. aiohttp would repeat a lost one at once, whatever the provider's pace."""
    try:
        return await handler(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise _lost(error) from None


def _lost(error: Exception) -> Unreachable:
    # Without its text, which may hold the address, and with it a key.
    return Unreachable(f"The connection failed ({type(error).__name__}).")


def _absolute(asked: str, location: str) -> str:
    try:
        target = urljoin(asked, location) if location else ""
        urlsplit(target)
    except ValueError:
        return ""
    return target
