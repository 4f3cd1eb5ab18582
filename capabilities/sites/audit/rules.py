"""Rules: what is wrong with the alternative text of each picture of a page, as far as its HTML tells.

The tree's first question is function: a picture that is all that a link or button has must say what that does. HTML
doesn't tell if a picture contributes meaning, so an empty `alt` elsewhere is taken for its author's decision."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urljoin

from lxml import html
from lxml.etree import ParserError

from capabilities.index_check.sitemaps.reading import list_pages
from capabilities.sites.markup import is_missing, plain_url
from pipeline.downloads.web import Unfetched, Web
from pipeline.settings import Settings

Fault = Literal["no_function", "missing", "file_name", "contradiction", "same_text", "repeats_link", "too_long"]
#: The meaning of each fault, and its remedy.
ADVICE: dict[Fault, str] = {
    "no_function": "The picture is all that its link or button has. Say where it leads, or what it does.",
    "missing": 'There is no alt. Describe the picture, or write alt="" if it only decorates.',
    "file_name": "The alt is the name of a file. Describe the picture instead.",
    "contradiction": "One attribute says that it only decorates, another describes it. Decide.",
    "same_text": "Another picture of the page has the same text. Say what differs.",
    "repeats_link": 'The text beside it in the link says the same, so it is read twice. Write alt="".',
    "too_long": "The alt has more than 250 characters. Describe it in short, and the rest in the text.",
}
#: Characters of an `alt` that screen readers speak in one piece without tiring anybody.
MAX_ALT = 250
CONTROLS = ("a", "button", "summary")


@dataclass(frozen=True, slots=True)
class Finding:
    """A picture of a page, and what is wrong with it; `alt` is None where there is none."""

    page: str
    picture: str
    alt: str | None
    fault: Fault


def audit(page: str, content: bytes | str) -> Iterator[Finding]:
    """Yield the findings of a page, in its order; those about several pictures last."""
    try:
        root = html.fromstring(content)
    except (ParserError, ValueError):
        return
    texts: dict[str, list[html.HtmlElement]] = defaultdict(list)
    for element in root.iter("img", "input", "area"):
        if element.tag == "input" and element.get("type", "").lower() != "image":
            continue
        fault = _fault_of(element)
        if fault is not None:
            yield Finding(page, _address(element, page), element.get("alt"), fault)
        elif text := (element.get("alt") or "").strip():
            texts[text.casefold()].append(element)
    for same in texts.values():
        files = {plain_url(_address(one, page)) for one in same}
        targets = {_target(one) for one in same}
        # One picture shown twice says the same twice, and so do pictures that lead to one place.
        if len(files) > 1 and (len(targets) > 1 or targets == {""}):
            for one in same[1:]:
                yield Finding(page, _address(one, page), one.get("alt"), "same_text")


def _fault_of(element: html.HtmlElement) -> Fault | None:
    alt, source = element.get("alt"), element.get("src", "")
    named = (element.get("aria-label") or element.get("aria-labelledby") or element.get("title") or "").strip()
    text = (alt or "").strip()
    hidden = element.get("role") in ("presentation", "none") or element.get("aria-hidden") == "true"
    if hidden and (text or element.get("aria-label")):
        return "contradiction"
    if element.tag in ("input", "area"):
        is_named = bool(text or named) or (element.tag == "area" and not element.get("href"))
        return None if is_named else "no_function"
    control = _control(element)
    if control is not None and not text and not named and not _name(control):
        return "no_function"
    if alt is None and not hidden and not named:
        return "missing"
    if alt is not None and not text and named and element.get("role") != "img" and element.get("aria-label"):
        return "contradiction"
    if text and is_missing(text, source):
        return "file_name"
    if control is not None and text and text.casefold() == _words(control).casefold():
        return "repeats_link"
    return "too_long" if len(text) > MAX_ALT else None


def _control(element: html.HtmlElement) -> html.HtmlElement | None:
    """Return the link or button that a picture stands in."""
    return next((one for one in element.iterancestors() if one.tag in CONTROLS and _acts(one)), None)


def _acts(element: html.HtmlElement) -> bool:
    return element.tag != "a" or element.get("href") is not None


def _name(control: html.HtmlElement) -> str:
    """Return a control's name beside the picture: its words, its label, or another picture's text."""
    label = control.get("aria-label") or control.get("aria-labelledby") or control.get("title") or ""
    alts = " ".join(one.get("alt") or "" for one in control.iter("img"))
    titles = " ".join(one.text or "" for one in control.iter("title"))
    return f"{label} {_words(control)} {alts} {titles}".strip()


def _words(control: html.HtmlElement) -> str:
    return " ".join(control.text_content().split())


def _target(element: html.HtmlElement) -> str:
    control = _control(element)
    return "" if control is None else control.get("href") or ""


def _address(element: html.HtmlElement, page: str) -> str:
    found = element.get("src") or element.get("data-src") or element.get("href") or ""
    try:
        return found[:80] if found.startswith("data:") else urljoin(page, found)
    except ValueError:  # such as http://[site]/a.jpg
        return found


def rows(findings: Iterable[Finding]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield findings as the cells of a table: page, picture, alt, fault, advice."""
    for one in findings:
        yield one.page, one.picture, "(none)" if one.alt is None else one.alt, one.fault, ADVICE[one.fault]


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
                return Audited(page, [], "It is not HTML.")
            content = await opened.read(MAX_BYTES)
    except Unfetched as error:
        return Audited(page, [], error.message)
    return Audited(page, await asyncio.to_thread(lambda: list(audit(opened.url, content))))
