"""SerpApi: an API for Google's results."""

from typing import Any

from workers.engines.search.base.api import ApiProvider
from workers.engines.search.base.provider import SearchRequest


class SerpApi(ApiProvider):
    """SerpApi: Google's results."""

    name = "serpapi"
    page = "https://www.google.com/search"
    rows_at = ("organic_results",)
    address = "link"

    def request(self, query: str) -> SearchRequest:
        """Return the request; its key can only go into the address, which is therefore never shown."""
        return SearchRequest(self.url, query={"engine": "google", "q": query, "num": "20", "api_key": self.key})

    def is_valid(self, document: dict[str, Any]) -> bool:
        """It says what became of the organic results."""
        about = document.get("search_information")
        return isinstance(about, dict) and "empty" in str(about.get("organic_results_state")).lower()
