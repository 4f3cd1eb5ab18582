"""Download: one picture from one server, hop by hop."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urljoin

import aiohttp
from yarl import URL

from pipeline.engine_settings import FetchSettings
from pipeline.images import ImageBlocked, ImageTooLarge, ImageUnreachable, ImageUrlInvalid
from workers.media.downloads.addresses import Reach
from workers.media.downloads.failures import REMEDY, failure_of, of_status
from workers.media.downloads.slots import DownloadSlots
from workers.media.downloads.targets import Refused, read_target, shown

T = TypeVar("T")

REDIRECTS = frozenset((301, 302, 303, 307, 308))
#: A Location may come with spaces and raw UTF-8 in it, which browsers take; the rest of what is unfit is refused.
KEPT = "".join(map(chr, range(0x21, 0x7F)))


class Clock:
    """The seconds that a download still has. It stands still while the download waits for a slot."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    async def run(self, exchange: Coroutine[Any, Any, T]) -> T:
        """Return what an exchange gives. Raises TimeoutError at the end of the time."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self.left):
                return await exchange
        finally:
            self.left -= loop.time() - began

    async def pause(self, seconds: float) -> None:
        """Let time pass."""
        self.left -= seconds
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file from the web; `url` is where the last redirect led to, `content_type` what its server says it is."""

    body: bytes
    url: str
    content_type: str | None


class Downloader:
    """Follows a URL to its file. All of it runs in one event loop."""

    def __init__(
        self, settings: FetchSettings, reach: Reach, session: aiohttp.ClientSession, slots: DownloadSlots
    ) -> None:
        self._settings = settings
        self._reach = reach
        self._session = session
        self._slots = slots

    async def fetch(self, text: str, clock: Clock) -> Fetched:
        """Return the file behind a URL. Raises ImageFailure, and TimeoutError when its time is up."""
        try:
            url = read_target(text, self._reach)
        except Refused as refused:
            said = f"{shown(text)} can't be fetched: {refused.why}."
            raise (ImageBlocked(f"{said} {REMEDY}") if refused.is_forbidden else ImageUrlInvalid(said)) from None
        for _ in range(self._settings.redirects + 1):
            async with self._slots.at(url.raw_host or ""):
                found = await clock.run(self._exchange(url))
            if isinstance(found, Fetched):
                return found
            url = self._next(url, found)
        raise ImageBlocked(f"{shown(text)} redirects more than {self._settings.redirects} times, or in a circle.")

    async def _exchange(self, url: URL) -> Fetched | str:
        """Return the file, or the Location of a redirect."""
        try:
            async with self._session.get(url, allow_redirects=False) as response:
                if response.status in REDIRECTS and "Location" in response.headers:
                    return response.headers["Location"]
                if response.status != 200:
                    raise of_status(response, shown(str(url)))
                return Fetched(await self._read(response), str(url), response.headers.get("Content-Type"))
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise failure_of(error, shown(str(url))) from error

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        limit = self._settings.max_bytes
        # Of a compressed body this is the compressed length, so the count below has the last word.
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
            if taken > self._settings.stall_seconds and size < taken * self._settings.least_bytes_per_second:
                raise ImageUnreachable(f"{shown(str(response.url))} comes too slowly: {size:,} bytes in {taken:.0f} s.")
        return b"".join(chunks)

    def _next(self, url: URL, location: str) -> URL:
        try:
            return read_target(urljoin(str(url), quote(location, safe=KEPT, errors="surrogateescape")), self._reach)
        except (Refused, ValueError) as error:
            why = error.why if isinstance(error, Refused) else "it can't be read"
            raise ImageBlocked(
                f"{shown(str(url))} redirects to {shown(location)}, which is not followed: {why}. {REMEDY}"
            ) from error
