"""Google: its results pages. Off by default: since 2025 they come with JavaScript alone."""

import re

from bs4 import BeautifulSoup

from workers.engines.search.markup import UNUSUAL_TRAFFIC, has, href_of, soup_of, unwrap, unwrapped, visible_text
from workers.engines.search.pages import Query, Reading, Reply, Sent
from workers.engines.search.provider import BaseProvider

HOME = "https://www.google.com/"
ROWS = "div.tF2Cxc a:has(h3), div.yuRUbf a:has(h3), div.g a:has(h3), div.g h3 a, #search a:has(h3), #rso a:has(h3)"
ADS = re.compile("^(tads|tadsb|bottomads)$")
CHALLENGE = ("form#captcha-form", ".g-recaptcha", "img[src^='/sorry/image']", "form[action*='/sorry']")
CONSENT = ("form[action*='consent.google']", "form[action*='//consent.']")
SCRIPT = re.compile(r"/httpservice/retry/enablejs|requires JavaScript", re.IGNORECASE)
NONE = re.compile(
    r"did not match any documents|About 0 results|Keine Ergebnisse für|ничего не найдено|нет информации об адресе"
    r"|No information is available for",
    re.IGNORECASE,
)


class Google(BaseProvider):
    """GET /search."""

    name = "google"
    page = "https://www.google.com/search"

    def sent(self, query: Query) -> Sent:
        """Return the search in English, so that what it says is known, and without what Google leaves out."""
        return Sent(self.url, query={"q": query.text, "hl": "en", "num": "20", "filter": "0"})

    def parse(self, reply: Reply) -> Reading:
        """Return what a page says."""
        soup = soup_of(reply)
        rows, opaque = unwrapped(_links(soup))
        if rows or opaque:
            return Reading(rows, opaque)
        is_script = bool(SCRIPT.search(reply.text))
        is_challenge, is_consent = has(soup, *CHALLENGE), has(soup, *CONSENT)
        text = visible_text(soup)
        return Reading(
            is_none=bool(NONE.search(text)),
            is_challenge=is_challenge or bool(UNUSUAL_TRAFFIC.search(text)),
            is_consent=is_consent,
            is_script=is_script,
        )


def _links(soup: BeautifulSoup) -> list[str]:
    found = [tag for tag in soup.select(ROWS) if not tag.find_parent(id=ADS)]
    links = [href_of(tag, HOME) for tag in found]
    if any(unwrap(link) is not None for link in links):
        return links
    # The page for browsers without JavaScript: every result is a /url link with a heading in it.
    return [href_of(tag, HOME) for tag in soup.select("a[href^='/url?']:has(h3), h3 a[href^='/url?']")]
