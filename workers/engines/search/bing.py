"""Bing: its results pages."""

from workers.engines.search.base.markup import UNUSUAL_TRAFFIC, has, href_of, soup_of, unwrapped, visible_text
from workers.engines.search.base.pages import Query, Reading, Reply, SearchRequest
from workers.engines.search.base.provider import Provider

CHALLENGE = ("div.captcha", "#turnstile-widget", "form#captcha-form", "iframe[src*='challenges.cloudflare.com']")


class Bing(Provider):
    """GET /search."""

    name = "bing"
    page = "https://www.bing.com/search"

    def forms(self, url: str) -> list[Query]:
        """Return `site:` first, and then `url:`, which Bing documents as its test of one page."""
        return [super().forms(url)[0], Query("url", f"url:{url}")]

    def request(self, query: Query) -> SearchRequest:
        """Return the search in English, so that what it says is known."""
        return SearchRequest(self.url, query={"q": query.text, "setlang": "en", "count": "30"})

    def parse(self, reply: Reply) -> Reading:
        """Return what a page says. Rows under "There are no results for" are filler."""
        soup = soup_of(reply)
        if has(soup, "#b_results li.b_no"):
            return Reading(is_none=True)
        links = []
        for row in soup.select("#b_results > li.b_algo"):
            link = row.select_one("h2 a[href]") or row.select_one("a.tilk[href]")
            if link is not None:
                links.append(href_of(link, "https://www.bing.com/"))
        rows, opaque = unwrapped(links)
        if rows or opaque:
            return Reading(rows, opaque)
        return Reading(is_challenge=has(soup, *CHALLENGE) or bool(UNUSUAL_TRAFFIC.search(visible_text(soup))))
