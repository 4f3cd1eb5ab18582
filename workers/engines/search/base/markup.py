"""Markup: what the results pages of different engines have in common."""

import base64
import binascii
import re
from collections.abc import Iterable
from urllib.parse import parse_qs, unquote, urljoin, urlsplit

from bs4 import BeautifulSoup, Tag

from workers.engines.search.base.pages import Reply

UNUSUAL_TRAFFIC = re.compile(
    r"unusual traffic|automated queries|verify (that )?you are (a )?human"
    r"|подозрительн\w+ трафик|ungewöhnlichen datenverkehr",
    re.IGNORECASE,
)
#: A row whose address can't be read.
OPAQUE = ""


def soup_of(reply: Reply) -> BeautifulSoup:
    """Return a page as a tree."""
    return BeautifulSoup(reply.text, "lxml")


def visible_text(soup: BeautifulSoup) -> str:
    """Return what a person reads on a page."""
    for hidden in soup(["script", "style", "noscript", "template"]):
        hidden.extract()
    return soup.get_text(" ", strip=True)


def has(soup: BeautifulSoup, *selectors: str) -> bool:
    """Return whether a page has any of these elements."""
    return soup.select_one(", ".join(selectors)) is not None  # one walk through the page for all


def href_of(tag: Tag, base: str) -> str:
    """Return where a link leads, as a whole address; nothing for what can't be one."""
    try:
        return urljoin(base, str(tag.get("href") or "").strip())
    except ValueError:
        return ""


def unwrap(address: str) -> str | None:
    """Return the page behind an engine's own link: OPAQUE when it can't be read, None for what is no result."""
    try:
        parts = urlsplit(address)
        host, path = parts.hostname or "", parts.path
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"}:
        return None
    given = {name: values[0] for name, values in parse_qs(parts.query).items()}
    if _is_of(host, "duckduckgo.com"):
        return _unwrap_duckduckgo(path, given)
    if _is_of(host, "bing.com") and path.startswith("/ck/a"):
        return _unwrap_bing(given.get("u", ""))
    if re.fullmatch(r"(www\.)?google\.[a-z.]{2,6}", host):
        return _unwrap_google(path, given)
    if host == "r.search.yahoo.com":
        found = re.search(r"/RU=([^/]+)/", path)
        return unquote(found[1]) if found else OPAQUE
    return address


def _is_of(host: str, site: str) -> bool:
    return host == site or host.endswith(f".{site}")


def _unwrap_duckduckgo(path: str, given: dict[str, str]) -> str | None:
    if path == "/l/":
        return given.get("uddg", OPAQUE)
    # /y.js is an ad; the rest leads to other searches.
    return None


def _unwrap_bing(value: str) -> str:
    if not value.startswith("a1"):
        return OPAQUE
    encoded = value[2:] + "=" * (-len(value[2:]) % 4)
    try:
        return base64.urlsafe_b64decode(encoded).decode()
    except (binascii.Error, ValueError):
        return OPAQUE


def _unwrap_google(path: str, given: dict[str, str]) -> str | None:
    if path == "/url":
        found = given.get("q") or given.get("url") or ""
        return found if found.startswith(("http://", "https://")) else None
    return OPAQUE if path == "/goto" else None


def unwrapped(addresses: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """Return the pages behind links, each once and in order, and how many can't be read."""
    found = [unwrap(address) for address in addresses]
    return tuple(dict.fromkeys(one for one in found if one)), found.count(OPAQUE)
