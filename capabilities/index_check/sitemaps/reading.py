"""Reading: the pages of a sitemap, and of the sitemaps in it; guarded, and within limits."""

import asyncio
from collections.abc import Callable
from urllib.parse import urljoin

from capabilities.index_check.requests.request import MAX_URLS
from capabilities.index_check.settings import SearchSettings, SitemapSettings
from capabilities.index_check.sitemaps.parsing import NoSitemap, SitemapParser, TooManyBytes
from pipeline.downloads.targets import shown
from pipeline.downloads.web import Unfetched, Web
from pipeline.errors import InvalidRequest
from pipeline.settings import Settings

#: Depth of indexes within indexes; the protocol allows none.
MAX_LEVELS = 3


class SitemapFailure(InvalidRequest):
    """The sitemap can't be used, for the reason that `code` tells; nothing is charged."""

    code = "sitemap_unreachable"
    field = "sitemap_url"


#: Codes of sitemaps that are not one, or list no page; and of those with more pages, files or bytes than are read.
INVALID, TOO_LARGE = "sitemap_invalid", "sitemap_too_large"
#: Codes of URLs that can't be fetched, by the download's code; the others are unreachable.
_CODES = {"invalid": "sitemap_url_invalid", "blocked": "sitemap_blocked"}


async def read_document(
    web: Web, url: str, on_page: Callable[[str], None], on_sitemap: Callable[[str], None], *, max_bytes: int
) -> None:
    """Read one document, and call back with the absolute URL of each page and sitemap in it.

    Raises SitemapFailure, and the callbacks' errors."""
    name = shown(url)
    try:
        async with web.open(url) as opened:
            if opened.status != 200:
                raise SitemapFailure(f"The sitemap {name} answers with HTTP {opened.status}.")
            parser = SitemapParser(
                lambda found: on_page(_whole(opened.url, found)),
                lambda found: on_sitemap(_whole(opened.url, found)),
                max_bytes=max_bytes,
            )
            async for chunk in opened.chunks():
                parser.feed(chunk)
            parser.close()
    except Unfetched as error:
        raise SitemapFailure(f"The sitemap can't be read: {error.message}", code=_CODES.get(error.code)) from None
    except NoSitemap as error:
        raise SitemapFailure(f"The sitemap {name} can't be read: it {error.why}.", code=INVALID) from None
    except TooManyBytes:
        message = f"The sitemap {name} has more than the {max_bytes:,} bytes, unpacked, that are read. Divide it."
        raise SitemapFailure(message, code=TOO_LARGE) from None


class SitemapTree:
    """Reads a sitemap and the sitemaps in it, up to the most pages, files and levels."""

    def __init__(self, web: Web, settings: SitemapSettings, *, max_pages: int) -> None:
        self._web = web
        self._settings = settings
        self._max_pages = max_pages
        self._pages: set[str] = set()
        self._files: set[str] = set()

    async def pages(self, url: str, levels: int = MAX_LEVELS) -> list[str]:
        """Return the pages in order, with duplicates across sitemaps. Raises SitemapFailure."""
        if url in self._files:
            return []
        self._files.add(url)
        self._check_files(0)
        pages: dict[str, None] = {}
        sitemaps: list[str] = []

        def add_sitemap(sitemap: str) -> None:
            sitemaps.append(sitemap)
            self._check_files(len(sitemaps))

        await read_document(
            self._web, url, lambda page: self._add(page, pages), add_sitemap, max_bytes=self._settings.file_bytes
        )
        if sitemaps and levels == 0:
            message = f"The sitemap {shown(url)} is an index within {MAX_LEVELS} others; send its parts."
            raise SitemapFailure(message, code=TOO_LARGE)
        return [*pages, *await self._pages_of(sitemaps, levels - 1)]

    async def _pages_of(self, sitemaps: list[str], levels: int) -> list[str]:
        try:
            async with asyncio.TaskGroup() as group:
                reading = [group.create_task(self.pages(sitemap, levels)) for sitemap in sitemaps]
        except ExceptionGroup as errors:
            # The others were cancelled; one error says what to mend first.
            raise errors.exceptions[0] from None
        return [page for one in reading for page in one.result()]

    def _check_files(self, named: int) -> None:
        """Raise SitemapFailure if too many files were begun, or named by one of them."""
        if max(len(self._files), named) > self._settings.files:
            raise SitemapFailure(
                f"The sitemap and those that it names are more than {self._settings.files:,} files, the most that are "
                "read. Send the URLs of its parts.",
                code=TOO_LARGE,
            )

    def _add(self, page: str, pages: dict[str, None]) -> None:
        if page not in self._pages and len(self._pages) == self._max_pages:
            raise SitemapFailure(
                f"The sitemap lists more than {self._max_pages:,} pages, and a job takes that many at most. "
                "Send the URLs of its parts, one a job.",
                code=TOO_LARGE,
            )
        self._pages.add(page)
        pages[page] = None


def list_pages(url: str, settings: Settings, *, max_pages: int = MAX_URLS) -> list[str]:
    """Return the pages in a sitemap, in order, each once; it is read in an event loop of its own.

    Raises SitemapFailure, NotReady."""
    own = settings.of(SearchSettings).sitemap

    async def run() -> list[str]:
        async with (
            asyncio.timeout(own.seconds),
            Web(settings.fetch, user_agent=own.user_agent, per_host=own.per_host) as web,
        ):
            return await SitemapTree(web, own, max_pages=max_pages).pages(url)

    try:
        pages = asyncio.run(run())
    except TimeoutError:
        raise SitemapFailure(
            f"The sitemap {shown(url)}, with those that it names, took longer than {own.seconds:g} s, the most that it "
            "may. Send the URLs of its parts."
        ) from None
    if not pages:
        raise SitemapFailure(f"The sitemap {shown(url)} lists no page.", code=INVALID)
    return list(dict.fromkeys(pages))


def _whole(base: str, address: str) -> str:
    """Return an absolute URL; an invalid address stays, and is refused with other invalid URLs."""
    if address.startswith(("http://", "https://")):
        return address
    try:
        return urljoin(base, address)
    except ValueError:
        return address
