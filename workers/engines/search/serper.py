"""Serper: an API for Google's results."""

from typing import Any

from workers.engines.search.base.api import ApiProvider
from workers.engines.search.base.provider import SearchRequest


class Serper(ApiProvider):
    """Serper: Google's results."""

    name = "serper"
    page = "https://www.google.com/search"
    rows_at = ("organic",)
    address = "link"

    def request(self, query: str) -> SearchRequest:
        """Return the request."""
        return SearchRequest(self.url, "POST", json={"q": query, "num": 20}, headers={"X-API-KEY": self.key})

    def is_valid(self, document: dict[str, Any]) -> bool:
        """The list is there, and empty."""
        return document.get("organic") == []
