"""Client: one HTTP session for all search providers of a process, on an event loop of its own."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

import aiohttp
from tenacity import AsyncRetrying, RetryError, retry_if_exception_type, retry_if_result, stop_after_attempt
from tenacity.wait import wait_random_exponential

from pipeline.settings import SearchSettings
from workers.engines import EngineUnavailable
from workers.engines.search.pages import Reply, Sent

Result = TypeVar("Result")

#: Redirects that are followed, on the same host alone: another one wants something of us, and is judged as it stands.
MAX_REDIRECTS = 3
REDIRECTS = frozenset((301, 302, 303, 307, 308))
CHUNK_BYTES = 2**16


class Unreachable(EngineUnavailable):
    """The provider could not be asked: time-out, DNS, TLS, a lost connection."""

    code = "transport"


class PageTooLarge(EngineUnavailable):
    """The provider's answer does not end within our limit."""

    code = "page_too_large"


class SearchClient:
    """Asks, with patience for what passes by itself, and for nothing else: a captcha is never asked twice."""

    def __init__(self, settings: SearchSettings) -> None:
        self._settings = settings
        self._loop = asyncio.new_event_loop()
        self._session: aiohttp.ClientSession | None = None
        threading.Thread(target=self._loop.run_forever, name="search", daemon=True).start()

    def ask(self, sent: Sent) -> Reply:
        """Return a provider's reply, whatever its status. Raises Unreachable, PageTooLarge."""
        return self._run(self._ask_patiently(sent))

    def close(self) -> None:
        """Close all connections."""
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _close(self) -> None:
        if self._session is not None:
            await self._session.close()

    async def _ask_patiently(self, sent: Sent) -> Reply:
        retrying = AsyncRetrying(
            # A page with 503 may be a challenge, which is judged and not asked for again.
            retry=retry_if_exception_type(Unreachable) | retry_if_result(_is_passing),
            stop=stop_after_attempt(self._settings.tries),
            wait=wait_random_exponential(multiplier=0.2, max=5),
        )
        try:
            reply: Reply = await retrying(self._follow, sent)
        except RetryError as error:
            last = error.last_attempt
            if last.failed:
                raise last.exception() or error from error
            reply = last.result()
        return reply

    async def _follow(self, sent: Sent) -> Reply:
        reply = await self._ask(sent)
        for _ in range(MAX_REDIRECTS):
            target = urlsplit(reply.location)
            if reply.status not in REDIRECTS or target.netloc != urlsplit(reply.url).netloc or _is_wall(target.path):
                break
            reply = await self._ask(Sent(reply.location, headers=sent.headers))
        return reply

    async def _ask(self, sent: Sent) -> Reply:
        try:
            # One deadline for all of it: a page that comes byte by byte never ends otherwise.
            async with asyncio.timeout(self._settings.limit_seconds):
                return await self._exchange(sent)
        except TimeoutError as error:
            raise Unreachable(f"No answer within {self._settings.limit_seconds:g} s.") from error
        except (aiohttp.ClientError, OSError) as error:
            # Without its text, which may hold the address, and with it a key.
            raise Unreachable(f"The connection failed ({type(error).__name__}).") from None

    async def _exchange(self, sent: Sent) -> Reply:
        async with self._open_session().request(
            sent.method,
            sent.url,
            params=dict(sent.query) or None,
            data=sent.form,
            json=sent.json,
            headers=sent.headers,
            allow_redirects=False,
        ) as response:
            body = await self._read(response)
            headers = {name.lower(): value for name, value in response.headers.items()}
            location = urljoin(str(response.url), headers.get("location", "")) if "location" in headers else ""
            return Reply(response.status, str(response.url), body, location, headers)

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        body = bytearray()
        async for chunk in response.content.iter_chunked(CHUNK_BYTES):
            body += chunk
            if len(body) > self._settings.max_page_bytes:
                raise PageTooLarge(f"The answer is larger than {self._settings.max_page_bytes:,} bytes.")
        return bytes(body)

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
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
            )
        return self._session


def _is_passing(reply: Reply) -> bool:
    return reply.status >= 500 and b"captcha" not in reply.body and b"unusual traffic" not in reply.body


def _is_wall(path: str) -> bool:
    return path.startswith(("/sorry", "/sp/captcha", "/captcha"))
