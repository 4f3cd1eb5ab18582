"""SerpApi: an API for Google's results."""

from typing import Any, ClassVar

from capabilities.index_check.engines.search.base.api import ApiProvider
from capabilities.index_check.engines.search.base.provider import SearchRequest


class SerpApi(ApiProvider):
    """SerpApi: Google's results."""

    name = "serpapi"
    page = "https://www.google.com/search"
    rows_at = ("organic_results",)
    address = "link"
    said_at = ("error",)
    # HTTP 401, "Invalid API key. …"; 429, "Your account has run out of searches."; 429 as well for too many an hour.
    causes: ClassVar = {"run out of searches": "credits", "api key": "key"}

    def request(self, query: str) -> SearchRequest:
        """Return the request; its key can only go into the address, which is therefore never shown.

        What it has kept from an hour ago is not asked for: how old an answer may be is ours to say."""
        asked = {"engine": "google", "q": query, "num": "20", "no_cache": "true"}
        return SearchRequest(self.url, query={**asked, "api_key": self.key})

    def is_valid(self, document: dict[str, Any]) -> bool:
        """It says what became of the organic results."""
        about = document.get("search_information")
        return isinstance(about, dict) and "empty" in str(about.get("organic_results_state")).lower()
