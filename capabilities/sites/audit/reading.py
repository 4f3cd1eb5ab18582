"""Reading: the pages of a site to be audited, by one address, a sitemap or a feed; guarded, and a few at once."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from capabilities.index_check.sitemaps.reading import list_pages
from capabilities.sites.audit.rules import Finding, audit
from pipeline.downloads.web import Unfetched, Web
from pipeline.settings import Settings

USER_AGENT = "Pressroom/0.1 (accessibility audit)"
AT_ONCE = 4
#: Bytes of a page that are read.
MAX_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class Audited:
    """A page and its findings, or why it could not be read."""

    page: str
    findings: list[Finding]
    error: str | None = None


async def audit_pages(url: str, settings: Settings, *, most: int) -> AsyncIterator[Audited]:
    """Yield the pages of a sitemap or feed, at most so many, or the one page; in their order.

    Raises InvalidRequest for a sitemap that can't be read."""
    async with Web(settings.fetch, user_agent=USER_AGENT, per_host=AT_ONCE) as web:
        pages = await _pages(url, settings, most)
        for first in range(0, len(pages), AT_ONCE):
            for found in await asyncio.gather(*(_audit(web, page) for page in pages[first : first + AT_ONCE])):
                yield found


async def _pages(url: str, settings: Settings, most: int) -> list[str]:
    if not url.partition("?")[0].endswith((".xml", ".xml.gz", ".txt", "/feed", "/feed/", ".rss", ".atom")):
        return [url]
    return await asyncio.to_thread(list_pages, url, settings, max_pages=most)


async def _audit(web: Web, page: str) -> Audited:
    try:
        async with web.open(page) as opened:
            if opened.status != 200:
                return Audited(page, [], f"It answers with HTTP {opened.status}.")
            if "html" not in opened.headers.get("Content-Type", "html"):
                return Audited(page, [], "It is no HTML.")
            content = await opened.read(MAX_BYTES)
    except Unfetched as error:
        return Audited(page, [], error.message)
    return Audited(page, await asyncio.to_thread(lambda: list(audit(opened.url, content))))
