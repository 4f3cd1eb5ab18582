"""Page: what is looked at of one page: its answer, and what its HTML and headers say to crawlers."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

import lxml.etree
import lxml.html

from pipeline.downloads.web import Opened, Redirect, Unfetched, Web
from pipeline.engine_settings import DiagnosisSettings
from pipeline.kinds.index_check.diagnosis import RobotsDirective
from workers.handlers.index_check.diagnosis.directives import forbidding_elements, forbidding_headers, storable

LINK = re.compile(r"<([^>]*)>((?:\s*;\s*[\w*-]+(?:\s*=\s*(?:\"[^\"]*\"|[^;,\s]*))?)*)")
CANONICAL = re.compile(r";\s*rel\s*=\s*\"?[^\";,]*\bcanonical\b", re.IGNORECASE)
REFRESH = re.compile(r"\s*[\d.]+\s*[;,]\s*url\s*=\s*['\"]?([^'\"]+)", re.IGNORECASE)
CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
HTML = ("text/html", "application/xhtml+xml")
#: A page with fewer letters and digits has nothing that it could be found by.
FEW_CHARACTERS = 50


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
    root = _parsed(body, charset[1] if charset else None)
    if root is None:
        facts.has_text = False
        return
    base = _whole(opened.url, next(iter(root.xpath("//base/@href")), "")) or opened.url
    metas = [(meta.get("name"), meta.get("content", "")) for meta in root.xpath("//meta[@name]")]
    facts.noindex += forbidding_elements(metas)
    canonicals = [link.get("href") for link in root.xpath("//link[@href][@rel]") if _has_word(link, "canonical")]
    if canonicals:
        facts.canonical = _whole(base, canonicals[0])
    for meta in root.xpath("//meta[@http-equiv][@content]"):
        if meta.get("http-equiv").strip().lower() == "refresh" and (found := REFRESH.match(meta.get("content"))):
            facts.refresh = _whole(base, found[1])
    facts.has_text = _has_text(root)


def _parsed(body: bytes, charset: str | None) -> Any:
    """Return the root of a document; None where there is nothing in it."""
    try:
        parser = lxml.html.HTMLParser(encoding=charset, huge_tree=False, no_network=True)
    except LookupError:
        parser = lxml.html.HTMLParser(huge_tree=False, no_network=True)
    try:
        return lxml.html.document_fromstring(body, parser=parser)
    except (lxml.etree.LxmlError, ValueError):
        return None


def _has_word(link: Any, word: str) -> bool:
    return word in link.get("rel").lower().split()


def _has_text(root: Any) -> bool:
    count = 0
    for text in _texts(root):
        count += sum(map(str.isalnum, text))
        if count >= FEW_CHARACTERS:
            return True
    return False


def _texts(root: Any) -> Iterator[str]:
    return iter(root.xpath("//body//text()[not(ancestor::script or ancestor::style or ancestor::noscript)]"))


def _whole(base: str, address: str) -> str | None:
    address = storable(address)
    try:
        return storable(urljoin(base, address)) if address else None
    except ValueError:
        return None
