"""Download: fetches a URL through its redirects, with errors for the user who sent it."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp
from yarl import URL

from pipeline.downloads.addresses import Reach
from pipeline.downloads.failures import REMEDY, failure_of, read_retry_after
from pipeline.downloads.images import ImageBlocked, ImageFailure, ImageTooLarge, ImageUnreachable, ImageUrlInvalid
from pipeline.downloads.slots import DownloadSlots
from pipeline.downloads.targets import REDIRECTS, Refused, location_of, read_target, shown
from pipeline.settings.fields import FetchSettings

T = TypeVar("T")

#: A status after which to try again, like those from 500.
TOO_MANY_REQUESTS = 429
#: Statuses above 500 that make another try useless.
PERMANENT = frozenset((501, 505))


class Clock:
    """The seconds that a download has left; it stands still while the download waits for a slot."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    async def run(self, exchange: Coroutine[Any, Any, T]) -> T:
        """Await a request within the time left. Raises TimeoutError."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self.left):
                return await exchange
        finally:
            self.left -= loop.time() - began

    async def pause(self, seconds: float) -> None:
        """Wait, on the download's time."""
        self.left -= seconds
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file from the web; `url` follows redirects, `content_type` is the server's claim."""

    body: bytes
    url: str
    content_type: str | None


@dataclass(frozen=True, slots=True)
class Downloader:
    """Downloads files in one event loop, and follows redirects."""

    settings: FetchSettings
    reach: Reach
    session: aiohttp.ClientSession
    slots: DownloadSlots

    async def fetch(self, text: str, clock: Clock) -> Fetched:
        """Return the file behind a URL. Raises ImageFailure, TimeoutError."""
        try:
            url = read_target(text, self.reach)
        except Refused as refused:
            said = f"{shown(text)} can't be fetched: {refused.why}."
            raise (ImageBlocked(f"{said} {REMEDY}") if refused.is_forbidden else ImageUrlInvalid(said)) from None
        for _ in range(self.settings.redirects + 1):
            async with self.slots.at(url.raw_host or ""):
                found = await clock.run(self._exchange(url))
            if isinstance(found, Fetched):
                return found
            url = self._next(url, found)
        raise ImageBlocked(f"{shown(text)} redirects more than {self.settings.redirects} times, or in a circle.")

    async def _exchange(self, url: URL) -> Fetched | str:
        """Return the file, or the Location of a redirect."""
        try:
            async with self.session.get(url, allow_redirects=False) as response:
                if response.status in REDIRECTS and "Location" in response.headers:
                    return response.headers["Location"]
                if response.status != 200:
                    raise _of_status(response, shown(str(url)))
                return Fetched(await self._read(response), str(url), response.headers.get("Content-Type"))
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _failure_of(error, shown(str(url))) from error

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        limit = self.settings.max_bytes
        # A compressed body has its compressed length here, so the unpacked bytes are counted below.
        if (response.content_length or 0) > limit:
            raise ImageTooLarge(
                f"{shown(str(response.url))} has {response.content_length:,} bytes; at most {limit:,} are downloaded."
            )
        loop = asyncio.get_running_loop()
        began = loop.time()
        chunks: list[bytes] = []
        size = 0
        while chunk := await response.content.readany():
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                raise ImageTooLarge(
                    f"{shown(str(response.url))} has more than the {limit:,} bytes that are downloaded."
                )
            taken = loop.time() - began
            if taken > self.settings.stall_seconds and size < taken * self.settings.least_bytes_per_second:
                raise ImageUnreachable(f"{shown(str(response.url))} comes too slowly: {size:,} bytes in {taken:.0f} s.")
        return b"".join(chunks)

    def _next(self, url: URL, location: str) -> URL:
        try:
            return read_target(location_of(str(url), location), self.reach)
        except (Refused, ValueError) as error:
            why = error.why if isinstance(error, Refused) else "it can't be read"
            raise ImageBlocked(
                f"{shown(str(url))} redirects to {shown(location)}, which is not followed: {why}. {REMEDY}"
            ) from error


def _failure_of(error: Exception, name: str) -> ImageFailure:
    """Return the failure for a request's exception; `name` is the URL as messages show it."""
    failure = failure_of(error, name, wanted="picture")
    if failure.is_forbidden:
        return ImageBlocked(failure.message)
    return ImageUnreachable(failure.message, is_passing=failure.is_passing)


def _of_status(response: aiohttp.ClientResponse, name: str) -> ImageUnreachable:
    """Return the failure for a status other than 200."""
    status = response.status
    is_passing = status == TOO_MANY_REQUESTS or (status >= 500 and status not in PERMANENT)
    return ImageUnreachable(
        f"{name} answers with HTTP {status}, not with a picture.",
        is_passing=is_passing,
        retry_after=read_retry_after(response.headers.get("Retry-After", "")) if is_passing else None,
        answered=status,
    )
