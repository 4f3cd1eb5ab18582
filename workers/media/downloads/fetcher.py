"""Fetcher: downloads users' URLs, and connects only to allowed addresses."""

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeVar

import aiohttp
from aiohttp.abc import AbstractResolver
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception
from tenacity.wait import wait_random_exponential

from pipeline.database.coalescing import Batches
from pipeline.downloads.addresses import Reach
from pipeline.downloads.connecting import SocketFactory, open_session, plain_socket
from pipeline.downloads.images import ImageUnreachable
from pipeline.downloads.slots import DownloadSlots
from pipeline.downloads.targets import shown
from pipeline.settings.fields import FetchSettings
from workers.media.downloads.download import Clock, Downloader, Fetched

__all__ = ["Fetched", "Fetcher"]

USER_AGENT = "Pressroom/0.1 (image fetcher)"
ACCEPT = "image/*,*/*;q=0.5"
#: Tries after passing errors. The first pause is up to so many seconds (full jitter); each next doubles the limit.
TRIES = 4
PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 60
#: Longest delay of a process's end for closing connections.
LEAVE_SECONDS = 1.0


T = TypeVar("T")


class Handover(Generic[T]):
    """Like `asyncio.run_coroutine_threadsafe`, but coroutines that are started together wake the loop once.

    A wake-up each, and the contest for the global lock, took a quarter of a small download's time."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._given: Batches[tuple[Callable[[], Coroutine[Any, Any, T]], Future[T]]] = Batches()

    def start(self, run: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run a coroutine; cancelling the future stops it. Raises RuntimeError once the loop is closed."""
        future: Future[T] = Future()
        if self._given.add((run, future)):
            try:
                self._loop.call_soon_threadsafe(self._begin)
            except RuntimeError:
                self._given.abandon()  # so that the next caller gets the error too
                raise
        return future

    def _begin(self) -> None:
        while given := self._given.take():
            for run, future in given:
                task = self._loop.create_task(run())
                task.add_done_callback(partial(_hand_back, future))
                future.add_done_callback(partial(self._stop, task))

    def _stop(self, task: "asyncio.Task[T]", future: "Future[T]") -> None:
        if future.cancelled() and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(task.cancel)


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
        self._reach = Reach(settings.allow_networks)
        self._resolver = resolver
        self._open_socket = open_socket
        self._session: aiohttp.ClientSession | None = None
        self._jitter = wait_random_exponential(multiplier=pause_seconds, max=MAX_PAUSE_SECONDS)
        self._downloader: Downloader | None = None
        self._loop = asyncio.new_event_loop()
        # A thread for each download's lookup: a slow name server must not delay others.
        self._loop.set_default_executor(ThreadPoolExecutor(settings.downloads, "names"))
        self._handover: Handover[Fetched] = Handover(self._loop)
        self._thread = threading.Thread(target=self._loop.run_forever, name="fetch", daemon=True)
        self._thread.start()

    def start(self, url: str) -> Future[Fetched]:
        """Begin a download; its future raises ImageFailure, and stops it when cancelled."""
        return self._handover.start(partial(self._fetch, url))

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
        if self._session is not None:
            await self._session.close()
        await self._loop.shutdown_default_executor()

    async def _fetch(self, url: str) -> Fetched:
        limit = self._settings.limit_seconds
        try:
            return await self._fetch_with_retries(url, Clock(limit))
        except TimeoutError:
            raise ImageUnreachable(f"{shown(url)} took longer than the {limit:g} s that a download has.") from None

    async def _fetch_with_retries(self, url: str, clock: Clock) -> Fetched:
        fetch = self._open_downloader().fetch
        try:
            return await fetch(url, clock)
        except ImageUnreachable as error:
            if not error.is_passing:
                raise
            failures = [error]

        async def try_again() -> Fetched:
            if failures:
                raise failures.pop()  # the first try, which is over
            return await fetch(url, clock)

        def is_last(state: RetryCallState) -> bool:
            # Without time for another try, the last error helps the user more than a time-out.
            return state.attempt_number >= TRIES or state.upcoming_sleep >= clock.left

        # Made only after a failure: it takes a third of a small picture's time.
        retrying = AsyncRetrying(
            retry=retry_if_exception(_is_passing), wait=self._pause, stop=is_last, sleep=clock.pause, reraise=True
        )
        return await retrying(try_again)

    def _pause(self, state: RetryCallState) -> float:
        """Return the seconds before the next try: full jitter, and at least the server's wish."""
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.retry_after if isinstance(error, ImageUnreachable) else None
        return max(self._jitter(state), asked.total_seconds() if asked is not None else 0.0)

    def _open_downloader(self) -> Downloader:
        # Made inside its event loop.
        if self._downloader is None:
            self._session = open_session(
                self._settings, self._reach, self._resolver, self._open_socket, user_agent=USER_AGENT, accept=ACCEPT
            )
            slots = DownloadSlots(self._settings.downloads, self._settings.downloads_per_host)
            self._downloader = Downloader(self._settings, self._reach, self._session, slots)
        return self._downloader


def open_fetcher(settings: FetchSettings) -> Fetcher:
    """Return a fetcher that closes its connections at the process's end. Raises NotReady."""
    fetcher = Fetcher(settings)
    atexit.register(fetcher.leave)
    return fetcher


def _is_passing(error: BaseException) -> bool:
    return isinstance(error, ImageUnreachable) and error.is_passing


def _hand_back(future: "Future[T]", task: "asyncio.Task[T]") -> None:
    error = None if task.cancelled() else task.exception()  # read in any case, or asyncio logs a warning
    if task.cancelled():
        future.cancel()
    # Not earlier: a future that is running can't be cancelled any more.
    if not future.set_running_or_notify_cancel():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())
