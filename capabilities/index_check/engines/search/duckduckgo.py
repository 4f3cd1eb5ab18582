"""DuckDuckGo: the pages of its site without JavaScript."""

import re
from typing import ClassVar

from bs4 import BeautifulSoup

from capabilities.index_check.engines.search.base.pages import PageProvider

#: Of its page with and without pictures, of the lite one, and of those that scripts have made.
ROWS = "a.result-link, #links a.result__a, #links article[data-testid=result] h2 a, article[data-testid=result] h2 a"
ADS = ("result--ad", "result-sponsored")
#: Rows that are looked at; a page has thirty. Each costs a walk up to the page's root.
MAX_ROWS = 200


class DuckDuckGo(PageProvider):
    """POST /html/."""

    name = "duckduckgo"
    # It throttles with 202 and an empty page, and with 418; success is told by content alone.
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
        """Return the links of rows that are no ads."""
        tags = soup.select(ROWS, limit=MAX_ROWS)
        return [self.href_of(tag) for tag in tags if tag.find_parent(class_=ADS) is None]
