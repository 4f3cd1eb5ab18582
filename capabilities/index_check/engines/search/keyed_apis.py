"""Search APIs with a key that answer with a list of results: Serper and SerpApi for Google, and Brave Search."""

from typing import Any, ClassVar

from capabilities.index_check.engines.search.base.provider import ApiProvider, SearchRequest, found_at


class Serper(ApiProvider):
    """Serper: Google's results."""

    name = "serper"
    page = "https://www.google.com/search"
    rows_at = ("organic",)
    address = "link"
    # A free account may not ask for quoted words: HTTP 400, "Query pattern not allowed for free accounts".
    second_form = "{url}"
    # HTTP 400, {"message": "Not enough credits", "statusCode": 400}; 403, {"message": "Unauthorized."}.
    causes: ClassVar = {"not enough credits": "credits", "unauthorized": "key"}

    def request(self, query: str) -> SearchRequest:
        """Return the request. More than ten rows cost twice, and a free account may not ask for them."""
        return SearchRequest(self.url, "POST", json={"q": query, "num": 10}, headers={"X-API-KEY": self.key})

    def is_valid(self, document: dict[str, Any]) -> bool:
        return document.get("organic") == []


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
        """Return the request. It takes its key only in the address, which is therefore never shown."""
        # Without its cache of an hour: we decide how old an answer may be.
        asked = {"engine": "google", "q": query, "num": "20", "no_cache": "true"}
        return SearchRequest(self.url, query={**asked, "api_key": self.key})

    def is_valid(self, document: dict[str, Any]) -> bool:
        about = document.get("search_information")
        return isinstance(about, dict) and "empty" in str(about.get("organic_results_state")).lower()


class BraveApi(ApiProvider):
    """The Brave Search API."""

    name = "brave_api"
    page = "https://search.brave.com/search"
    rows_at = ("web", "results")
    address = "url"
    said_at = ("error", "code")
    # HTTP 422, {"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}}; 422 as well, with "VALIDATION", for a faulty query.
    causes: ClassVar = {"subscription": "key", "not_in_plan": "credits"}
    max_query = 400

    def request(self, query: str) -> SearchRequest:
        headers = {"X-Subscription-Token": self.key, "Accept": "application/json"}
        return SearchRequest(self.url, query={"q": query, "count": "20"}, headers=headers)

    def is_valid(self, document: dict[str, Any]) -> bool:
        """Return whether it answers a search, with an empty list of results or none."""
        return document.get("type") == "search" and found_at(document, self.rows_at) in (None, [])
