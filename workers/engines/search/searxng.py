"""SearXNG: the JSON of an instance of one's own."""

from urllib.parse import urlencode, urljoin

from workers.engines.search.base.api import document_of
from workers.engines.search.base.pages import Query, Reading, Reply, SearchRequest
from workers.engines.search.base.provider import Provider
from workers.engines.search.base.verdict import Traits


class Searxng(Provider):
    """GET /search?format=json."""

    name = "searxng"
    traits = Traits(is_api=True)

    def request(self, query: Query) -> SearchRequest:
        """Return the request."""
        return SearchRequest(self._search(), query={"q": query.text, "format": "json", "language": "en"})

    def parse(self, reply: Reply) -> Reading:
        """Return what an answer says. Nothing found counts only if every engine behind it has answered."""
        document = document_of(reply)
        if document is None or not reply.is_success or not isinstance(document.get("results"), list):
            return Reading()
        rows = [str(row["url"]) for row in document["results"] if isinstance(row, dict) and row.get("url")]
        unresponsive = document.get("unresponsive_engines") or []
        silent = [str(engine) for engine in (unresponsive if isinstance(unresponsive, list) else [unresponsive])]
        return Reading(
            tuple(dict.fromkeys(rows)),
            is_none=not rows and not silent,
            blocked_inside="" if rows else ", ".join(silent),
        )

    def proof_url(self, query: Query) -> str:
        """Return the page of the same instance."""
        return f"{self._search()}?{urlencode({'q': query.text})}"

    def _search(self) -> str:
        return self.url if self.url.rstrip("/").endswith("/search") else urljoin(self.url.rstrip("/") + "/", "search")
