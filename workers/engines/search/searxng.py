"""SearXNG: the JSON of an instance of one's own."""

from dataclasses import replace
from typing import ClassVar
from urllib.parse import urljoin

from pipeline.engine_settings import ProviderSettings
from workers.engines.search.base.api import document_of
from workers.engines.search.base.provider import Provider, Reading, Reply, SearchRequest


class Searxng(Provider):
    """GET /search?format=json."""

    name = "searxng"
    is_api = True
    parameters: ClassVar = {"format": "json", "language": "en"}

    def __init__(self, settings: ProviderSettings) -> None:
        super().__init__(settings)
        root = self.url.rstrip("/")
        self.page = self.url if root.endswith("/search") else urljoin(f"{root}/", "search")

    def request(self, query: str) -> SearchRequest:
        """Return the request for the page's JSON."""
        return replace(super().request(query), url=self.page)

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
