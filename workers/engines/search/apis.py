"""APIs: search providers that answer with JSON."""

import json
from typing import Any, ClassVar

from workers.engines.search.judging.pages import Query, Reading, Reply, Sent
from workers.engines.search.judging.verdict import Traits
from workers.engines.search.provider import BaseProvider

QUOTA_WORDS = ("quota", "rate limit", "rate_limit", "too many", "credits", "usage limit")


class ApiProvider(BaseProvider):
    """What reads its answers the same way: a list under a path of names, each with an address."""

    traits: ClassVar[Traits] = Traits(is_api=True)
    is_parallel = True
    needs_key = True
    #: Where the list of results is, and what an entry's address is called.
    rows_at: ClassVar[tuple[str, ...]]
    address: ClassVar[str]

    def parse(self, reply: Reply) -> Reading:
        """Return what an answer says."""
        document = document_of(reply)
        if not reply.is_success:
            text = reply.text[:2_000].lower()
            return Reading(is_quota=any(word in text for word in QUOTA_WORDS))
        if document is None:
            return Reading()
        rows = [str(row[self.address]) for row in self._rows(document) if row.get(self.address)]
        return Reading(tuple(dict.fromkeys(rows)), is_none=not rows and self.is_valid(document))

    def is_valid(self, document: dict[str, Any]) -> bool:
        """Return whether an answer without rows is one that found nothing."""
        raise NotImplementedError

    def _rows(self, document: dict[str, Any]) -> list[dict[str, Any]]:
        found: Any = document
        for name in self.rows_at:
            found = found.get(name) if isinstance(found, dict) else None
        return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def document_of(reply: Reply) -> dict[str, Any] | None:
    """Return the JSON object of an answer, None when it is none."""
    try:
        document = json.loads(reply.body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


class BraveApi(ApiProvider):
    """The Brave Search API."""

    name = "brave_api"
    page = "https://search.brave.com/search"
    rows_at = ("web", "results")
    address = "url"
    max_query = 400

    def sent(self, query: Query) -> Sent:
        """Return the request."""
        headers = {"X-Subscription-Token": self.key, "Accept": "application/json"}
        return Sent(self.url, query={"q": query.text, "count": "20"}, headers=headers)

    def is_valid(self, document: dict[str, Any]) -> bool:
        """An answer to a search says so."""
        return document.get("type") == "search"


class Serper(ApiProvider):
    """Serper: Google's results."""

    name = "serper"
    page = "https://www.google.com/search"
    rows_at = ("organic",)
    address = "link"

    def sent(self, query: Query) -> Sent:
        """Return the request."""
        return Sent(self.url, "POST", json={"q": query.text, "num": 20}, headers={"X-API-KEY": self.key})

    def is_valid(self, document: dict[str, Any]) -> bool:
        """The list is there, and empty."""
        return document.get("organic") == []


class SerpApi(ApiProvider):
    """SerpApi: Google's results."""

    name = "serpapi"
    page = "https://www.google.com/search"
    rows_at = ("organic_results",)
    address = "link"

    def sent(self, query: Query) -> Sent:
        """Return the request; its key can only go into the address, which is therefore never shown."""
        return Sent(self.url, query={"engine": "google", "q": query.text, "num": "20", "api_key": self.key})

    def is_valid(self, document: dict[str, Any]) -> bool:
        """It says what became of the organic results."""
        about = document.get("search_information")
        return isinstance(about, dict) and "empty" in str(about.get("organic_results_state")).lower()
