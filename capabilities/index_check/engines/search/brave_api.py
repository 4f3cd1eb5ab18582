"""Brave: the Brave Search API."""

from typing import Any, ClassVar

from capabilities.index_check.engines.search.base.api import ApiProvider, found_at
from capabilities.index_check.engines.search.base.provider import SearchRequest


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
        """Return the request."""
        headers = {"X-Subscription-Token": self.key, "Accept": "application/json"}
        return SearchRequest(self.url, query={"q": query, "count": "20"}, headers=headers)

    def is_valid(self, document: dict[str, Any]) -> bool:
        """An answer to a search says so; without results it has no list of them, or an empty one."""
        return document.get("type") == "search" and found_at(document, self.rows_at) in (None, [])
