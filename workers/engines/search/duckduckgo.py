"""DuckDuckGo: the pages of its site without JavaScript."""

from workers.engines.search.base.markup import UNUSUAL_TRAFFIC, has, href_of, soup_of, unwrapped, visible_text
from workers.engines.search.base.pages import Query, Reading, Reply, SearchRequest
from workers.engines.search.base.provider import Provider
from workers.engines.search.base.verdict import Traits

ROWS = "#links a.result__a, #links article[data-testid=result] h2 a, article[data-testid=result] h2 a"
#: Rows that are looked at; a page has thirty. Each costs a walk up to the page's root.
MAX_ROWS = 200
CHALLENGE = ("#challenge-form", ".anomaly-modal__title", "script[src*='anomaly.js']", "form[action*='anomaly.js']")


class DuckDuckGo(Provider):
    """POST /html/."""

    name = "duckduckgo"
    # It throttles with 202 and an empty page, and with 418; success is told by content alone.
    traits = Traits(throttle_statuses=frozenset((202, 418, 429)))
    max_query = 500
    page = "https://duckduckgo.com/"

    def request(self, query: Query) -> SearchRequest:
        """Return the form that its page sends."""
        return SearchRequest(self.url, "POST", form={"q": query.text, "b": ""})

    def parse(self, reply: Reply) -> Reading:
        """Return what a page says."""
        soup = soup_of(reply)
        links = [tag for tag in soup.select(ROWS, limit=MAX_ROWS) if tag.find_parent(class_="result--ad") is None]
        rows, opaque = unwrapped(href_of(tag, "https://duckduckgo.com/") for tag in links)
        if rows or opaque:
            return Reading(rows, opaque)
        is_challenge = has(soup, *CHALLENGE)
        is_none = has(soup, ".result--no-result", ".no-results")
        text = visible_text(soup)
        return Reading(
            is_none=is_none or "No results." in text or "No  results." in reply.text,
            is_challenge=is_challenge or bool(UNUSUAL_TRAFFIC.search(text)),
        )
