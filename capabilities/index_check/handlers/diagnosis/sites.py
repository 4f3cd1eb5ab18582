"""Sites: a site's robots.txt and sitemaps, read once for all pages of a job."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from protego import Protego
from yarl import URL

from capabilities.index_check.results.raw_result import RobotsFile
from capabilities.index_check.settings import DiagnosisSettings
from capabilities.index_check.sitemaps.reading import SitemapFailure, read_document
from pipeline.downloads.urls import match_key
from pipeline.downloads.web import Unfetched, Web

#: Crawlers that robots.txt may keep from a page: all of them, and those of the indexes that we ask.
AGENTS = ("*", "Googlebot", "Bingbot")
#: So much of a robots.txt counts (RFC 9309, 2.5).
ROBOTS_BYTES = 500 * 1024
#: Largest sitemap that is read, unpacked: as large as the protocol allows.
SITEMAP_BYTES = 50 * 2**20


class Enough(Exception):
    """The sitemaps have more files or URLs than we read."""


@dataclass
class DiagnosedSite:
    """The facts about a site. `status` is that of robots.txt, or None if it could not be fetched."""

    robots_url: str
    status: int | None = None
    rules: Protego | None = None
    #: Sitemaps by the hashes of the pages that they list, and whether they were read to their end.
    pages: dict[int, str] = field(default_factory=dict)
    has_sitemap: bool = False
    is_complete: bool = True

    @property
    def forbids_all(self) -> bool:
        """True if crawlers stay away because robots.txt answers with a server error (RFC 9309, 2.3.1.4)."""
        return self.status is not None and (self.status >= 500 or self.status == 429)

    def robots(self, url: str) -> RobotsFile:
        blocked = [agent for agent in AGENTS if self.rules is not None and not self.rules.can_fetch(url, agent)]
        return RobotsFile(url=self.robots_url, http_status=self.status, blocked_agents=blocked)

    def sitemap_of(self, url: str) -> tuple[bool | None, str | None]:
        """Return whether a sitemap lists a page (None if unknown), and which."""
        found = self.pages.get(_hash(url))
        if found is not None:
            return True, found
        return (False if self.has_sitemap and self.is_complete else None), None


class Sites:
    """Reads sites, each once for a job, and remembers the last of them. Used in one event loop."""

    def __init__(self, web: Web, settings: DiagnosisSettings) -> None:
        self._web = web
        self._settings = settings
        self._reading: OrderedDict[tuple[UUID, str], asyncio.Task[DiagnosedSite]] = OrderedDict()

    async def of(self, job_id: UUID, url: str) -> DiagnosedSite:
        origin = str(URL(url).origin())
        key = (job_id, origin)
        if key not in self._reading:
            self._reading[key] = asyncio.create_task(self._read(origin))
            if len(self._reading) > self._settings.sites:
                self._reading.popitem(last=False)
        self._reading.move_to_end(key)
        # Shielded: other callers wait for it as well.
        return await asyncio.shield(self._reading[key])

    async def _read(self, origin: str) -> DiagnosedSite:
        site = DiagnosedSite(f"{origin}/robots.txt")
        try:
            async with asyncio.timeout(self._settings.seconds):
                await self._read_robots(site)
                await self._read_sitemaps(site, origin)
        except TimeoutError:
            site.is_complete = False
        return site

    async def _read_robots(self, site: DiagnosedSite) -> None:
        try:
            async with self._web.open(site.robots_url) as opened:
                site.status = opened.status
                if opened.status == 200:
                    text = (await opened.read(ROBOTS_BYTES)).decode("utf-8-sig", "replace")
                    site.rules = Protego.parse(text)
        except Unfetched:
            pass  # its status says that there was none

    async def _read_sitemaps(self, site: DiagnosedSite, origin: str) -> None:
        """Read the sitemaps that robots.txt names, or else /sitemap.xml."""
        named = list(site.rules.sitemaps) if site.rules else []
        left = list(dict.fromkeys(named)) or [f"{origin}/sitemap.xml"]
        seen: set[str] = set()
        try:
            while left:
                url = left.pop(0)
                if url in seen:
                    continue
                seen.add(url)
                if len(seen) > self._settings.sitemap_files:
                    raise Enough
                await self._read_sitemap(site, url, partial(self._append, left), is_named=bool(named))
        except Enough:
            site.is_complete = False

    def _append(self, left: list[str], sitemap: str) -> None:
        if len(left) > self._settings.sitemap_files:
            raise Enough
        left.append(sitemap)

    async def _read_sitemap(
        self, site: DiagnosedSite, url: str, on_sitemap: Callable[[str], None], *, is_named: bool
    ) -> None:
        def take(page: str) -> None:
            if len(site.pages) >= self._settings.sitemap_urls:
                raise Enough
            site.pages.setdefault(_hash(page), url)

        try:
            await read_document(self._web, url, take, on_sitemap, max_bytes=SITEMAP_BYTES)
            site.has_sitemap = True
        except SitemapFailure:
            # /sitemap.xml need not exist; a named one that can't be read may list the page.
            site.is_complete = site.is_complete and not (is_named or site.has_sitemap)


def _hash(url: str) -> int:
    """Return a number for a page, which takes a tenth of its URL's memory."""
    return int.from_bytes(hashlib.blake2b((match_key(url) or url).encode(errors="replace"), digest_size=8).digest())
