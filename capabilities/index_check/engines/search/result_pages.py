"""Results pages that are read without a key or JavaScript: DuckDuckGo and Bing."""

import re
from typing import ClassVar

from bs4 import BeautifulSoup

from capabilities.index_check.engines.search.base.pages import PageProvider
from capabilities.index_check.engines.search.base.provider import Reading, Reply

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
        """Return the page's reading. A page without results is no challenge, whatever its words."""
        reading = super().parse(reply)
        return Reading(is_none=True) if reading.is_none else reading

    def links(self, soup: BeautifulSoup) -> list[str]:
        """Return the links of rows. Under "There are no results for" they are filler."""
        if soup.select_one(self.none):
            return []
        rows = soup.select("#b_results > li.b_algo")
        links = [row.select_one("h2 a[href]") or row.select_one("a.tilk[href]") for row in rows]
        return [self.href_of(link) for link in links if link is not None]
