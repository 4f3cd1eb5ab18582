"""Feed: any site with an RSS or Atom feed, which is only read (RSS 2.0; RFC 4287)."""

from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import urljoin
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from capabilities.sites.connectors.connector import Part, SiteFacts, SitePost, SiteTrouble, Values
from capabilities.sites.connectors.exchange import Exchange
from pipeline.downloads.targets import shown
from pipeline.settings.fields import FetchSettings

ATOM = "{http://www.w3.org/2005/Atom}"
CONTENT = "{http://purl.org/rss/1.0/modules/content/}encoded"


class Feed:
    """A site that is known by its feed alone."""

    name: ClassVar[str] = "feed"
    secret: ClassVar[str] = ""

    def __init__(self, url: str, credentials: Mapping[str, str], facts: SiteFacts, settings: FetchSettings) -> None:
        self._url = url
        self.exchange = Exchange(settings)

    async def look_up(self) -> SiteFacts:
        """Read the feed's title and language."""
        root = await self._read()
        channel = root if root.tag == f"{ATOM}feed" else root.find("channel")
        if channel is None:
            raise SiteTrouble(f"{shown(self._url)} is no RSS 2.0 and no Atom feed.", code="site_not_feed")
        language = channel.findtext("language") or root.get("{http://www.w3.org/XML/1998/namespace}lang")
        title = channel.findtext("title") or channel.findtext(f"{ATOM}title") or ""
        return SiteFacts(title=title.strip(), language=language, root=self._url)

    async def list_pictures(self, cursor: str | None) -> Part:
        """Return none: a feed has no media library."""
        return Part((), None)

    async def list_posts(self, cursor: str | None) -> Part:
        """Read the posts of the feed."""
        root = await self._read()
        entries = root.findall(f"{ATOM}entry") or root.findall("channel/item")
        return Part([post for one in entries if (post := self._post(one)) is not None], None)

    async def read(self, target: str) -> Values | None:
        """Read a post; its target is its address."""
        posts = (await self.list_posts(None)).found
        return next((one.values for one in posts if one.target == target), None)

    async def write(self, target: str, values: Values) -> Values:
        """Refuse: a feed can't be written to."""
        raise self._refusal()

    async def upload(self, name: str, content: bytes, content_type: str, *, post: str | None = None) -> tuple[str, str]:
        """Refuse: a feed takes no files."""
        raise self._refusal()

    async def remove(self, target: str) -> None:
        """Refuse: a feed has no files of ours."""
        raise self._refusal()

    def player(self, target: str, url: str) -> str:
        """Refuse: a feed shows no player."""
        raise self._refusal()

    def _refusal(self) -> SiteTrouble:
        return SiteTrouble(f"{shown(self._url)} is a feed, which is only read.", code="site_read_only")

    async def _read(self) -> Element:
        reply = await self.exchange.ask("GET", self._url)
        if reply.status != 200:
            raise SiteTrouble(f"{shown(self._url)} answers with HTTP {reply.status}.", code="site_refused")
        try:
            root: Element = fromstring(reply.body)
        except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
            raise SiteTrouble(
                f"{shown(self._url)} is no feed that can be read ({type(error).__name__}).", code="site_not_feed"
            ) from error
        return root

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
        url = urljoin(self._url, link)
        return SitePost(
            url, title.strip(), url, is_published=True,
            values={"content": content, "excerpt": excerpt, "tags": tags, "categories": [], "cover": None},
        )  # fmt: skip
