"""Serper: an API for Google's results."""

from typing import Any, ClassVar

from capabilities.index_check.engines.search.base.api import ApiProvider
from capabilities.index_check.engines.search.base.provider import SearchRequest


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
        """Return the request. More than ten rows cost twice, and a free account is refused them."""
        return SearchRequest(self.url, "POST", json={"q": query, "num": 10}, headers={"X-API-KEY": self.key})

    def is_valid(self, document: dict[str, Any]) -> bool:
        """The list is there, and empty."""
        return document.get("organic") == []
