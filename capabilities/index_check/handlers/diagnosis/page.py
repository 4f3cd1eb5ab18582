"""Page: what is looked at of one page: its answer, and what its HTML and headers say to crawlers."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urljoin

import lxml.etree

from capabilities.index_check.handlers.diagnosis.directives import forbidding_elements, forbidding_headers, storable
from capabilities.index_check.results.raw_result import RobotsDirective
from capabilities.index_check.settings import DiagnosisSettings
from pipeline.downloads.web import Opened, Redirect, Unfetched, Web

LINK = re.compile(r"<([^>]*)>((?:\s*;\s*[\w*-]+(?:\s*=\s*(?:\"[^\"]*\"|[^;,\s]*))?)*)")
CANONICAL = re.compile(r";\s*rel\s*=\s*\"?[^\";,]*\bcanonical\b", re.IGNORECASE)
REFRESH = re.compile(r"\s*[\d.]+\s*[;,]\s*url\s*=\s*['\"]?([^'\"]+)", re.IGNORECASE)
CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
HTML = ("text/html", "application/xhtml+xml")
#: A page with fewer letters and digits has nothing that it could be found by.
FEW_CHARACTERS = 50
#: Elements whose text is for nobody to read.
SILENT = frozenset(("script", "style", "noscript"))
#: Directives that are kept of a page: one is enough to keep it out of an index.
MAX_DIRECTIVES = 10


@dataclass
class PageFacts:
    """What a look at a page has shown. `trouble` is the code of what went wrong on the way, `message` says it."""

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
    """Return what is to be seen of a page. Raises TimeoutError when its caller says so."""
    facts = PageFacts(url)
    try:
        async with web.open(url, on_turn=on_turn) as opened:
            facts.status, facts.final_url, facts.redirects = opened.status, opened.url, opened.redirects
            facts.noindex += forbidding_headers(opened.headers.getall("X-Robots-Tag", []))
            facts.canonical = _of_header(opened)
            content_type = opened.headers.get("Content-Type", HTML[0]).partition(";")[0].strip().lower()
            facts.is_html = content_type in HTML
            if opened.status == 200 and facts.is_html:
                _read(facts, opened, await opened.read(settings.page_bytes))
    except Unfetched as error:
        facts.trouble, facts.message, facts.redirects = error.code, error.message, error.redirects or facts.redirects
    return facts


def _of_header(opened: Opened) -> str | None:
    for value in opened.headers.getall("Link", []):
        for target, parameters in LINK.findall(value):
            if CANONICAL.search(parameters):
                return _whole(opened.url, target)
    return None


def _read(facts: PageFacts, opened: Opened, body: bytes) -> None:
    """Note what the HTML says."""
    charset = CHARSET.search(opened.headers.get("Content-Type", ""))
    seen = _seen(body, charset[1] if charset else None)
    base = _whole(opened.url, seen.base or "") or opened.url
    facts.noindex = list(dict.fromkeys([*facts.noindex, *forbidding_elements(seen.metas)]))[:MAX_DIRECTIVES]
    if seen.canonical:
        facts.canonical = _whole(base, seen.canonical)
    if seen.refresh:
        facts.refresh = _whole(base, seen.refresh)
    facts.has_text = seen.characters >= FEW_CHARACTERS


class _Seen:
    """Takes a page's elements as they come, and keeps what they say to crawlers.

    No tree is made of them: that takes a square of an element's attributes, for 2 MB of them some minutes."""

    def __init__(self) -> None:
        self.base: str | None = None
        self.canonical: str | None = None
        self.refresh: str | None = None
        self.metas: list[tuple[str, str]] = []
        self.characters = 0
        self._is_body = False
        self._silent = 0  # elements within each other whose text nobody reads
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
        """Say nothing: what was found is kept here."""

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


def _seen(body: bytes, charset: str | None) -> _Seen:
    """Return what a document says, as far as it can be read."""
    seen = _Seen()
    try:
        parser = lxml.etree.HTMLParser(target=seen, encoding=charset, huge_tree=False, no_network=True)
    except LookupError:
        parser = lxml.etree.HTMLParser(target=seen, huge_tree=False, no_network=True)
    with suppress(lxml.etree.LxmlError, ValueError):
        lxml.etree.fromstring(body, parser=parser)
    return seen


def _whole(base: str, address: str) -> str | None:
    address = storable(address)
    try:
        return storable(urljoin(base, address)) if address else None
    except ValueError:
        return None
