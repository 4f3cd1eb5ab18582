"""Google: its results pages. Off by default: since 2025 they come with JavaScript alone."""

import re
from itertools import islice

from bs4 import BeautifulSoup, Tag

from workers.engines.search.base.markup import (
    UNUSUAL_TRAFFIC,
    has,
    href_of,
    soup_of,
    unwrap,
    unwrapped,
    visible_text,
)
from workers.engines.search.base.pages import Query, Reading, Reply, SearchRequest
from workers.engines.search.base.provider import Provider

HOME = "https://www.google.com/"
#: Organic rows are in one of these.
CLASSES = frozenset(("tF2Cxc", "yuRUbf", "g"))
IDS = frozenset(("search", "rso"))
ADS = frozenset(("tads", "tadsb", "bottomads"))
#: Headings that are looked at, and what is above one: a page of many thousands, nested, would take us minutes.
MAX_HEADINGS = 200
MAX_ABOVE = 100
CHALLENGE = ("form#captcha-form", ".g-recaptcha", "img[src^='/sorry/image']", "form[action*='/sorry']")
CONSENT = ("form[action*='consent.google']", "form[action*='//consent.']")
SCRIPT = re.compile(r"/httpservice/retry/enablejs|requires JavaScript", re.IGNORECASE)
NONE = re.compile(
    r"did not match any documents|About 0 results|Keine Ergebnisse für|ничего не найдено|нет информации об адресе"
    r"|No information is available for",
    re.IGNORECASE,
)


class Google(Provider):
    """GET /search."""

    name = "google"
    page = "https://www.google.com/search"

    def request(self, query: Query) -> SearchRequest:
        """Return the search in English, so that what it says is known, and without what Google leaves out."""
        return SearchRequest(self.url, query={"q": query.text, "hl": "en", "num": "20", "filter": "0"})

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
    found: list[tuple[str, list[Tag]]] = []
    for heading in soup.find_all("h3", limit=MAX_HEADINGS):
        link = heading.find("a", href=True) or _nearest_link(heading)
        if link is not None and ADS.isdisjoint(tag.get("id") for tag in _above(link)):
            found.append((href_of(link, HOME), _above(link)))
    links = [address for address, above in found if any(map(_holds_rows, above))]
    if any(unwrap(link) is not None for link in links):
        return links
    # The page for browsers without JavaScript: every result is a /url link with a heading in it.
    return [address for address, _ in found if address.startswith(f"{HOME}url?")]


def _nearest_link(heading: Tag) -> Tag | None:
    return next((tag for tag in _above(heading) if tag.name == "a" and tag.has_attr("href")), None)


def _above(tag: Tag) -> list[Tag]:
    return list(islice(tag.parents, MAX_ABOVE))


def _holds_rows(tag: Tag) -> bool:
    return tag.get("id") in IDS or (tag.name == "div" and not CLASSES.isdisjoint(tag.get_attribute_list("class")))
