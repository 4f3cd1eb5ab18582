"""Results pages that are read without a key or JavaScript: DuckDuckGo and Bing."""

import base64
import binascii
import re
from typing import ClassVar
from urllib.parse import parse_qs, urljoin, urlsplit

from bs4 import BeautifulSoup, Tag

from capabilities.index_check.engines.search.base.provider import Provider, Reading, Reply

UNUSUAL_TRAFFIC = re.compile(
    r"unusual traffic|automated queries|verify (that )?you are (a )?human"
    r"|подозрительн\w+ трафик|ungewöhnlichen datenverkehr",
    re.IGNORECASE,
)
NEVER = re.compile(r"(?!)")
#: Stands for a row whose address can't be read.
OPAQUE = ""


class PageProvider(Provider):
    """A provider whose pages are read rows first: ordinary pages contain every word of a challenge."""

    needs_proof = True

    home: ClassVar[str]
    #: Elements (CSS) that only a challenge has, and one without results.
    challenge: ClassVar[str]
    none: ClassVar[str] = ""
    #: Words that only a page without results has.
    none_words: ClassVar[re.Pattern[str]] = NEVER

    def parse(self, reply: Reply) -> Reading:
        soup = BeautifulSoup(reply.text, "lxml")
        found = [unwrap(link) for link in self.links(soup)]
        rows = tuple(dict.fromkeys(one for one in found if one))
        if rows or OPAQUE in found:
            return Reading(rows, found.count(OPAQUE))
        is_none, is_challenge = (
            bool(selector) and soup.select_one(selector) is not None for selector in (self.none, self.challenge)
        )
        for hidden in soup(["script", "style", "noscript", "template"]):  # last: scripts tell a challenge
            hidden.extract()
        text = soup.get_text(" ", strip=True)
        return Reading(
            is_none=is_none or bool(self.none_words.search(text)),
            is_challenge=is_challenge or bool(UNUSUAL_TRAFFIC.search(text)),
        )

    def links(self, soup: BeautifulSoup) -> list[str]:
        raise NotImplementedError

    def href_of(self, tag: Tag) -> str:
        """Return a link's target as an absolute URL, or "" if it is none."""
        try:
            return urljoin(self.home, str(tag.get("href") or "").strip())
        except ValueError:
            return ""


def unwrap(address: str) -> str | None:
    """Return the page behind an engine's own link: OPAQUE if it can't be read, None if it is not a result."""
    try:
        parts = urlsplit(address)
        host, path = parts.hostname or "", parts.path
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"}:
        return None
    given = {name: values[0] for name, values in parse_qs(parts.query).items()}
    if f".{host}".endswith(".duckduckgo.com"):
        # /y.js is an ad; the rest leads to other searches.
        return given.get("uddg", OPAQUE) if path == "/l/" else None
    if f".{host}".endswith(".bing.com") and path.startswith("/ck/a"):
        return _unwrap_bing(given.get("u", ""))
    return address


def _unwrap_bing(value: str) -> str:
    if not value.startswith("a1"):
        return OPAQUE
    encoded = value[2:] + "=" * (-len(value[2:]) % 4)
    try:
        return base64.urlsafe_b64decode(encoded).decode()
    except (binascii.Error, ValueError):
        return OPAQUE


#: Rows of DuckDuckGo's pages: lite, with and without pictures, and made by scripts.
DUCKDUCKGO_ROWS = (
    "a.result-link, #links a.result__a, #links article[data-testid=result] h2 a, article[data-testid=result] h2 a"
)
DUCKDUCKGO_ADS = ("result--ad", "result-sponsored")
#: Rows that are looked at; a page has thirty. Each costs a walk up to the page's root.
MAX_ROWS = 200


class DuckDuckGo(PageProvider):
    """POST /html/, the page without JavaScript."""

    name = "duckduckgo"
    # It throttles with 202 and an empty page, and with 418; only content proves success.
    throttle_statuses = frozenset((202, 418, 429))
    max_query = 500
    page = "https://duckduckgo.com/"
    home = page
    sends_form = True  # as its own page does
    parameters: ClassVar = {"b": ""}
    challenge = "#challenge-form, .anomaly-modal__title, script[src*='anomaly.js'], form[action*='anomaly.js']"
    none = ".result--no-result, .no-results"
    none_words = re.compile(r"No {1,2}results\.")

    def links(self, soup: BeautifulSoup) -> list[str]:
        tags = soup.select(DUCKDUCKGO_ROWS, limit=MAX_ROWS)
        return [self.href_of(tag) for tag in tags if tag.find_parent(class_=DUCKDUCKGO_ADS) is None]


class Bing(PageProvider):
    """GET /search."""

    name = "bing"
    page = "https://www.bing.com/search"
    home = "https://www.bing.com/"
    second_form = "url:{url}"  # Bing's documented test of one page
    # Without a language: one that doesn't fit our address brings empty pages, and we read markup alone.
    parameters: ClassVar = {"count": "30"}
    challenge = "div.captcha, #turnstile-widget, form#captcha-form, iframe[src*='challenges.cloudflare.com']"
    none = "#b_results li.b_no"

    def parse(self, reply: Reply) -> Reading:
        """Return the page's reading. A page without results is not a challenge, whatever its words."""
        reading = super().parse(reply)
        return Reading(is_none=True) if reading.is_none else reading

    def links(self, soup: BeautifulSoup) -> list[str]:
        """Return the links of rows. Under "There are no results for" they are filler."""
        if soup.select_one(self.none):
            return []
        rows = soup.select("#b_results > li.b_algo")
        links = [row.select_one("h2 a[href]") or row.select_one("a.tilk[href]") for row in rows]
        return [self.href_of(link) for link in links if link is not None]
