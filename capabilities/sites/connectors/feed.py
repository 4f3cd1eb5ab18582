"""Feed: any site with an RSS or Atom feed, or a sitemap; it is only read (RSS 2.0; RFC 4287; sitemaps.org)."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from io import BytesIO
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring, iterparse

from capabilities.index_check.requests.request import MAX_URLS
from capabilities.index_check.settings import SitemapSettings
from capabilities.index_check.sitemaps.reading import SitemapFailure, SitemapTree
from capabilities.sites.connectors.connector import Connector, SiteFacts, SitePost, Values
from capabilities.sites.connectors.exchange import USER_AGENT, Exchange
from capabilities.sites.connectors.trouble import SiteTrouble
from pipeline.downloads.targets import shown
from pipeline.downloads.urls import fault_of
from pipeline.downloads.web import Web
from pipeline.settings.fields import FetchSettings

ATOM = "{http://www.w3.org/2005/Atom}"
#: The fields of a page that is known by its address alone.
NOTHING: Values = {"content": "", "excerpt": "", "tags": [], "categories": [], "cover": None}
#: Largest feed that is read: hundreds of whole posts.
MAX_FEED_BYTES = 10_000_000
#: Minutes between two looks at a sitemap, which may have many files.
SITEMAP_MINUTES = 15
CONTENT = "{http://purl.org/rss/1.0/modules/content/}encoded"


class Feed(Connector):
    """A site that is known by its feed or its sitemap alone."""

    def __init__(self, url: str, credentials: Mapping[str, str], facts: SiteFacts, settings: FetchSettings) -> None:
        self._url = url
        self._settings = settings
        self.exchange = Exchange(settings)

    async def look_up(self) -> SiteFacts:
        """Read the feed's title and language."""
        root = await self._read()
        if _is_sitemap(root):
            pages = await self._pages()
            return SiteFacts(title=urlsplit(pages[0].url).netloc, root=self._url, watch_minutes=SITEMAP_MINUTES)
        channel = root if root.tag == f"{ATOM}feed" else root.find("channel")
        if channel is None:
            raise SiteTrouble(f"{shown(self._url)} is neither a feed nor a sitemap.", code="site_not_feed")
        language = channel.findtext("language") or root.get("{http://www.w3.org/XML/1998/namespace}lang")
        title = channel.findtext("title") or channel.findtext(f"{ATOM}title") or ""
        return SiteFacts(title=title.strip(), language=language, root=self._url)

    async def list_posts(self) -> AsyncIterator[Sequence[SitePost]]:
        """Yield the posts of the feed, or all pages of the sitemap, which has no titles."""
        root = await self._read()
        if _is_sitemap(root):
            yield await self._pages()
            return
        entries = root.findall(f"{ATOM}entry") or root.findall("channel/item")
        yield [post for one in entries if (post := self._post(one)) is not None]

    async def read(self, target: str) -> Values | None:
        """Read a post; its target is its address."""
        posts = await anext(self.list_posts())
        return next((one.values for one in posts if one.target == target), None)

    async def _read(self) -> Element:
        reply = await self.exchange.ask("GET", self._url)
        if reply.status != 200:
            raise SiteTrouble(f"{shown(self._url)} answers with HTTP {reply.status}.", code="site_refused")
        try:
            # Pages of a sitemap are read elsewhere, a part at a time; as a tree they take thirty times its bytes.
            root: Element = next(iterparse(BytesIO(reply.body), events=("start",)))[1]
            if not _is_sitemap(root):
                if len(reply.body) > MAX_FEED_BYTES:
                    too_large = f"{shown(self._url)} has more than {MAX_FEED_BYTES:,} bytes."
                    raise SiteTrouble(too_large, code="site_too_large")
                root = fromstring(reply.body)
        except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
            raise SiteTrouble(
                f"{shown(self._url)} is not a feed or sitemap that can be read ({type(error).__name__}).",
                code="site_not_feed",
            ) from error
        return root

    async def _pages(self) -> list[SitePost]:
        limits = SitemapSettings()
        try:
            async with (
                asyncio.timeout(limits.seconds),
                Web(self._settings, user_agent=USER_AGENT, per_host=limits.per_host) as web,
            ):
                urls = await SitemapTree(web, limits, max_pages=MAX_URLS).pages(self._url)
        except SitemapFailure as failure:
            raise SiteTrouble(failure.message, code="site_not_feed") from failure
        except TimeoutError as error:
            message = f"{shown(self._url)} takes longer than {limits.seconds:g} s to read."
            raise SiteTrouble(message, code="site_unreachable", passes=True) from error
        if not urls:
            raise SiteTrouble(f"{shown(self._url)} lists no page.", code="site_not_feed")
        return [SitePost(url, "", url, is_published=True, values=NOTHING) for url in dict.fromkeys(urls)]

    def _post(self, entry: Element) -> SitePost | None:
        links = [one for one in entry.findall(f"{ATOM}link") if one.get("rel", "alternate") == "alternate"]
        link = (entry.findtext("link") or (links[0].get("href") if links else "") or "").strip()
        if not link:
            return None
        title = entry.findtext("title") or entry.findtext(f"{ATOM}title") or ""
        content = entry.findtext(CONTENT) or entry.findtext(f"{ATOM}content") or entry.findtext("description") or ""
        excerpt = entry.findtext(f"{ATOM}summary") or ""
        tags = [one.text for one in entry.findall("category") if one.text]
        tags += [term for one in entry.findall(f"{ATOM}category") if (term := one.get("term"))]
        try:
            url = urljoin(self._url, link)
        except ValueError:
            return None
        if fault_of(url) is not None:  # such as javascript:, which would become a link of the dashboard
            return None
        return SitePost(
            url, title.strip(), url, is_published=True,
            values={**NOTHING, "content": content, "excerpt": excerpt, "tags": tags},
        )  # fmt: skip


def _is_sitemap(root: Element) -> bool:
    return str(root.tag).rpartition("}")[2] in ("urlset", "sitemapindex")
