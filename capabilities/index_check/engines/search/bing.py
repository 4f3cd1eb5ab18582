"""Bing: its results pages."""

from typing import ClassVar

from bs4 import BeautifulSoup

from capabilities.index_check.engines.search.base.pages import PageProvider
from capabilities.index_check.engines.search.base.provider import Reading, Reply


class Bing(PageProvider):
    """GET /search."""

    name = "bing"
    page = "https://www.bing.com/search"
    home = "https://www.bing.com/"
    second_form = "url:{url}"  # which Bing documents as its test of one page
    # In no language: one that does not fit our address brings empty pages, and what is read of them is markup.
    parameters: ClassVar = {"count": "30"}
    challenge = "div.captcha, #turnstile-widget, form#captcha-form, iframe[src*='challenges.cloudflare.com']"
    none = "#b_results li.b_no"

    def parse(self, reply: Reply) -> Reading:
        """Return what a page says. One that has found nothing is no challenge, whatever the words on it."""
        reading = super().parse(reply)
        return Reading(is_none=True) if reading.is_none else reading

    def links(self, soup: BeautifulSoup) -> list[str]:
        """Return the links of rows. Under "There are no results for" they are filler."""
        if soup.select_one(self.none):
            return []
        rows = soup.select("#b_results > li.b_algo")
        links = [row.select_one("h2 a[href]") or row.select_one("a.tilk[href]") for row in rows]
        return [self.href_of(link) for link in links if link is not None]
