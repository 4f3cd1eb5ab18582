"""Fetcher: downloads users' URLs, and connects only to allowed addresses."""

import asyncio
import atexit
import math
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from aiohttp.abc import AbstractResolver
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception
from tenacity.wait import wait_random_exponential

from pipeline.downloads.connecting import SocketFactory, plain_socket
from pipeline.downloads.failures import read_retry_after
from pipeline.downloads.images import ImageBlocked, ImageFailure, ImageTooLarge, ImageUnreachable, ImageUrlInvalid
from pipeline.downloads.targets import shown
from pipeline.downloads.web import Opened, Unfetched, Web
from pipeline.settings.fields import FetchSettings

USER_AGENT = "Pressroom/0.1 (image fetcher)"
ACCEPT = "image/*,*/*;q=0.5"
#: Tries after passing errors. The first pause is up to so many seconds (full jitter); each next doubles the limit.
TRIES = 4
PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 60
#: Longest delay of a process's end for closing connections.
LEAVE_SECONDS = 1.0
#: A status after which to try again, like those from 500, and statuses above 500 that make another try useless.
TOO_MANY_REQUESTS = 429
PERMANENT = frozenset((501, 505))


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file from the web; `url` follows redirects, `content_type` is the server's claim."""

    body: bytes
    url: str
    content_type: str | None


class Fetcher:
    """Downloads users' URLs, and refuses forbidden addresses. Safe for many threads."""

    def __init__(
        self,
        settings: FetchSettings,
        *,
        resolver: AbstractResolver | None = None,
        open_socket: SocketFactory = plain_socket,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        """Start an event loop in a thread; tests pass their own resolver and sockets. Raises NotReady."""
        self._settings = settings
        self._web = Web(
            settings,
            user_agent=USER_AGENT,
            per_host=settings.downloads_per_host,
            accept=ACCEPT,
            resolver=resolver,
            open_socket=open_socket,
        )
        self._jitter = wait_random_exponential(multiplier=pause_seconds, max=MAX_PAUSE_SECONDS)
        self._loop = asyncio.new_event_loop()
        # A thread for each download's lookup: a slow name server must not delay others.
        self._loop.set_default_executor(ThreadPoolExecutor(settings.downloads, "names"))
        self._thread = threading.Thread(target=self._loop.run_forever, name="fetch", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._web.__aenter__(), self._loop).result()

    def start(self, url: str) -> Future[Fetched]:
        """Begin a download; its future raises ImageFailure, and stops it when cancelled."""
        return asyncio.run_coroutine_threadsafe(self._fetch(url), self._loop)

    def close(self) -> None:
        """End all downloads and connections; call it after the last `start`."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def leave(self) -> None:
        """End connections at the process's end, without waiting for name servers."""
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(LEAVE_SECONDS)

    async def _end(self) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._web.__aexit__()
        await self._loop.shutdown_default_executor()

    async def _fetch(self, url: str) -> Fetched:
        """Return the file behind a URL. Its time begins with its first turn. Raises ImageFailure."""
        seconds = self._settings.limit_seconds

        def begin() -> None:
            if limit.when() is None:
                limit.reschedule(self._loop.time() + seconds)

        def is_last(state: RetryCallState) -> bool:
            # Without time for another try, the last error helps the user more than a time-out.
            ends = limit.when() or math.inf
            return state.attempt_number >= TRIES or self._loop.time() + state.upcoming_sleep >= ends

        retrying = AsyncRetrying(retry=retry_if_exception(_is_passing), wait=self._pause, stop=is_last, reraise=True)
        try:
            async with asyncio.timeout(None) as limit:
                return await retrying(self._once, url, begin)
        except TimeoutError:
            raise ImageUnreachable(f"{shown(url)} took longer than the {seconds:g} s that a download has.") from None

    async def _once(self, url: str, on_turn: Callable[[], None]) -> Fetched:
        try:
            async with self._web.open(url, on_turn=on_turn) as answer:
                if answer.status != 200:
                    raise _of_status(answer)
                return Fetched(await self._read(answer), answer.url, answer.headers.get("Content-Type"))
        except Unfetched as error:
            raise _failure_of(error) from error

    async def _read(self, answer: Opened) -> bytes:
        limit, body = self._settings.max_bytes, bytearray()
        # A compressed body has its compressed length here, so the unpacked bytes are counted below.
        told = answer.headers.get("Content-Length", "")
        if told.isascii() and told.isdigit() and (size := int(told[:20])) > limit:
            raise ImageTooLarge(f"{shown(answer.url)} has {size:,} bytes; at most {limit:,} are downloaded.")
        async for chunk in answer.chunks(pace=self._settings):
            body += chunk
            if len(body) > limit:
                raise ImageTooLarge(f"{shown(answer.url)} has more than the {limit:,} bytes that are downloaded.")
        return bytes(body)

    def _pause(self, state: RetryCallState) -> float:
        """Return the seconds before the next try: full jitter, and at least the server's wish."""
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after if isinstance(error, ImageUnreachable) else None
        return max(self._jitter(state), asked.total_seconds() if asked is not None else 0.0)


def open_fetcher(settings: FetchSettings) -> Fetcher:
    """Return a fetcher that closes its connections at the process's end. Raises NotReady."""
    fetcher = Fetcher(settings)
    atexit.register(fetcher.leave)
    return fetcher


def _is_passing(error: BaseException) -> bool:
    return isinstance(error, ImageUnreachable) and error.is_passing


def _failure_of(error: Unfetched) -> ImageFailure:
    match error.code:
        case "invalid":
            return ImageUrlInvalid(error.message)
        case "blocked" | "redirects":
            return ImageBlocked(error.message)
    return ImageUnreachable(error.message, is_passing=error.is_passing)


def _of_status(answer: Opened) -> ImageUnreachable:
    """Return the failure for a status other than 200."""
    status = answer.status
    is_passing = status == TOO_MANY_REQUESTS or (status >= 500 and status not in PERMANENT)
    return ImageUnreachable(
        f"{shown(answer.url)} answers with HTTP {status}, not with a picture.",
        is_passing=is_passing,
        retry_after=read_retry_after(answer.headers.get("Retry-After", "")) if is_passing else None,
        answered=status,
    )
