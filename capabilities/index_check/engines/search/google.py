"""Google's results pages. Off by default: since 2025 they need JavaScript."""

import re
from itertools import islice
from typing import ClassVar

from bs4 import BeautifulSoup, Tag

from capabilities.index_check.engines.search.base.pages import PageProvider, unwrap

#: Organic rows are in an element with one of these classes or ids.
CLASSES = frozenset(("tF2Cxc", "yuRUbf", "g"))
IDS = frozenset(("search", "rso"))
ADS = frozenset(("tads", "tadsb", "bottomads"))
#: Headings that are looked at, and elements above each: thousands of nested ones would take minutes.
MAX_HEADINGS = 200
MAX_ABOVE = 100


class Google(PageProvider):
    """GET /search."""

    name = "google"
    page = "https://www.google.com/search"
    home = "https://www.google.com/"
    # In English, so that we know its words, and with the results that Google would fold.
    parameters: ClassVar = {"hl": "en", "num": "20", "filter": "0"}
    challenge = "form#captcha-form, .g-recaptcha, img[src^='/sorry/image'], form[action*='/sorry']"
    consent = "form[action*='consent.google'], form[action*='//consent.']"
    script = re.compile(r"/httpservice/retry/enablejs|requires JavaScript", re.IGNORECASE)
    none_words = re.compile(
        r"did not match any documents|About 0 results|Keine Ergebnisse für|ничего не найдено|нет информации об адресе"
        r"|No information is available for",
        re.IGNORECASE,
    )

    @property
    def promise(self) -> str:
        """The line for `pressroom doctor`: expect next to nothing."""
        return "asked as the index google, but its pages come with JavaScript since 2025: most URLs will be js_required"

    def links(self, soup: BeautifulSoup) -> list[str]:
        """Return the links of organic rows: those with a heading in or under them, without ads."""
        found: list[tuple[str, list[Tag]]] = []
        for heading in soup.find_all("h3", limit=MAX_HEADINGS):
            link = heading.find("a", href=True) or _nearest_link(heading)
            if link is not None and ADS.isdisjoint(tag.get("id") for tag in _above(link)):
                found.append((self.href_of(link), _above(link)))
        links = [address for address, above in found if any(map(_holds_rows, above))]
        if any(unwrap(link) is not None for link in links):
            return links
        # The page for browsers without JavaScript: every result is a /url link with a heading in it.
        return [address for address, _ in found if address.startswith(f"{self.home}url?")]


def _nearest_link(heading: Tag) -> Tag | None:
    return next((tag for tag in _above(heading) if tag.name == "a" and tag.has_attr("href")), None)


def _above(tag: Tag) -> list[Tag]:
    return list(islice(tag.parents, MAX_ABOVE))


def _holds_rows(tag: Tag) -> bool:
    return tag.get("id") in IDS or (tag.name == "div" and not CLASSES.isdisjoint(tag.get_attribute_list("class")))
