"""Page: the answer of one page, and what its HTML and headers tell crawlers."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urljoin

import lxml.etree

from capabilities.index_check.requests.given import UNSTORABLE
from capabilities.index_check.results.raw_result import RobotsDirective
from capabilities.index_check.settings import DiagnosisSettings
from pipeline.downloads.web import Opened, Redirect, Unfetched, Web

LINK = re.compile(r"<([^>]*)>((?:\s*;\s*[\w*-]+(?:\s*=\s*(?:\"[^\"]*\"|[^;,\s]*))?)*)")
CANONICAL = re.compile(r";\s*rel\s*=\s*\"?[^\";,]*\bcanonical\b", re.IGNORECASE)
REFRESH = re.compile(r"\s*[\d.]+\s*[;,]\s*url\s*=\s*['\"]?([^'\"]+)", re.IGNORECASE)
CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
HTML = ("text/html", "application/xhtml+xml")
#: A page with fewer letters and digits has nothing to be found by.
FEW_CHARACTERS = 50
SILENT = frozenset(("script", "style", "noscript"))
#: Directives that are kept of a page: one is enough to keep it out of an index.
MAX_DIRECTIVES = 10
#: All crawlers, and those of the indexes that we ask. Others, such as googlebot-news, don't matter.
ALL = "robots"
AGENTS = frozenset((ALL, "googlebot", "bingbot", "msnbot"))
#: Words that keep a page out of an index; `none` is noindex and nofollow.
FORBIDDING = frozenset(("noindex", "none"))
#: Directives with a value behind a colon, which are not names of crawlers.
VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
NAMED = re.compile(r"\s*([\w-]+)\s*:(.*)", re.DOTALL)
MAX_SHOWN = 2_048


@dataclass
class PageFacts:
    """The facts about a page. `trouble` is the code of a failed download, `message` describes it."""

    url: str
    status: int | None = None
    final_url: str | None = None
    redirects: tuple[Redirect, ...] = ()
    trouble: str = ""
    message: str = ""
    is_html: bool = True
    has_text: bool = True
    noindex: list[RobotsDirective] = field(default_factory=list)
    canonical: str | None = None
    refresh: str | None = None


async def look_at(
    web: Web, url: str, settings: DiagnosisSettings, on_turn: Callable[[], None] = lambda: None
) -> PageFacts:
    """Return the facts about a page. The caller limits the time."""
    facts = PageFacts(url)
    try:
        async with web.open(url, on_turn=on_turn) as opened:
            facts.status, facts.final_url, facts.redirects = opened.status, opened.url, opened.redirects
            facts.noindex += forbidding_headers(opened.headers.getall("X-Robots-Tag", []))
            facts.canonical = _canonical_of(opened)
            content_type = opened.headers.get("Content-Type", HTML[0]).partition(";")[0].strip().lower()
            facts.is_html = content_type in HTML
            if opened.status == 200 and facts.is_html:
                _read(facts, opened, await opened.read(settings.page_bytes))
    except Unfetched as error:
        facts.trouble, facts.message, facts.redirects = error.code, error.message, error.redirects or facts.redirects
    return facts


def forbidding_headers(values: Iterable[str]) -> Iterator[RobotsDirective]:
    """Yield the directives in X-Robots-Tag headers that forbid an index, each with its crawler."""
    for value in values:
        agent = ALL
        for part in value.split(","):
            named = NAMED.fullmatch(part)
            if named and named[1].lower() not in VALUED:
                # It holds for what follows, also if a proxy has joined several headers.
                agent, part = named[1].lower(), named[2]
            if agent in AGENTS and part.strip().lower() in FORBIDDING:
                yield RobotsDirective(source="header", agent=agent, content=_storable(part).lower())


def _forbidding_elements(metas: Iterable[tuple[str, str]]) -> Iterator[RobotsDirective]:
    """Yield the directives in `meta` elements, given as names and contents, that forbid an index."""
    for name, content in metas:
        agent = name.strip().lower()
        words = {word.strip().lower() for word in content.split(",")}
        if agent in AGENTS and words & FORBIDDING:
            yield RobotsDirective(source="meta", agent=agent, content=_storable(content))


def _canonical_of(opened: Opened) -> str | None:
    for value in opened.headers.getall("Link", []):
        for target, parameters in LINK.findall(value):
            if CANONICAL.search(parameters):
                return _whole(opened.url, target)
    return None


def _read(facts: PageFacts, opened: Opened, body: bytes) -> None:
    charset = CHARSET.search(opened.headers.get("Content-Type", ""))
    seen = _parse(body, charset[1] if charset else None)
    base = _whole(opened.url, seen.base or "") or opened.url
    facts.noindex = list(dict.fromkeys([*facts.noindex, *_forbidding_elements(seen.metas)]))[:MAX_DIRECTIVES]
    if seen.canonical:
        facts.canonical = _whole(base, seen.canonical)
    if seen.refresh:
        facts.refresh = _whole(base, seen.refresh)
    facts.has_text = seen.characters >= FEW_CHARACTERS


class _Elements:
    """A parser's target that keeps what a page's elements tell crawlers.

    No tree is made: that takes the square of an element's attributes, some minutes for 2 MB of them."""

    def __init__(self) -> None:
        self.base: str | None = None
        self.canonical: str | None = None
        self.refresh: str | None = None
        self.metas: list[tuple[str, str]] = []
        self.characters = 0
        self._is_body = False
        self._silent = 0  # depth of elements whose text nobody reads
        self._elements = {"base": self._take_base, "link": self._take_link, "meta": self._take_meta}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._is_body = self._is_body or tag == "body"
        self._silent += tag in SILENT
        if (take := self._elements.get(tag)) is not None:
            take(attributes)

    def end(self, tag: str) -> None:
        self._silent -= tag in SILENT

    def data(self, text: str) -> None:
        if self._is_body and not self._silent and self.characters < FEW_CHARACTERS:
            self.characters += sum(map(str.isalnum, text))

    def close(self) -> None:
        """Do nothing: lxml wants this method."""

    def _take_base(self, attributes: Mapping[str, str]) -> None:
        self.base = attributes.get("href") if self.base is None else self.base

    def _take_link(self, attributes: Mapping[str, str]) -> None:
        if self.canonical is None and "canonical" in attributes.get("rel", "").lower().split():
            self.canonical = attributes.get("href")

    def _take_meta(self, attributes: Mapping[str, str]) -> None:
        content = attributes.get("content", "")
        if "name" in attributes:
            self.metas.append((attributes["name"], content))
        if attributes.get("http-equiv", "").strip().lower() == "refresh" and (found := REFRESH.match(content)):
            self.refresh = found[1]


def _parse(body: bytes, charset: str | None) -> _Elements:
    seen = _Elements()
    try:
        parser = lxml.etree.HTMLParser(target=seen, encoding=charset, huge_tree=False, no_network=True)
    except LookupError:
        parser = lxml.etree.HTMLParser(target=seen, huge_tree=False, no_network=True)
    with suppress(lxml.etree.LxmlError, ValueError):
        lxml.etree.fromstring(body, parser=parser)
    return seen


def _whole(base: str, address: str) -> str | None:
    address = _storable(address)
    try:
        return _storable(urljoin(base, address)) if address else None
    except ValueError:
        return None


def _storable(text: str) -> str:
    """Return a text from a page or a header as a row can keep it."""
    return UNSTORABLE.sub("", text)[:MAX_SHOWN].strip()
