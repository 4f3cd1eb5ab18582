"""SearXNG: the JSON of an instance of one's own."""

from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urljoin

from capabilities.index_check.engines.search.base.api import document_of, objects
from capabilities.index_check.engines.search.base.provider import Provider, Reading, Reply, SearchRequest
from capabilities.index_check.settings import SearxngSettings


class Searxng(Provider):
    """GET /search?format=json."""

    name = "searxng"
    is_api = True
    needs_proof = True
    parameters: ClassVar = {"format": "json"}  # in no language: some engines have empty pages for one that does not fit

    def __init__(self, settings: SearxngSettings) -> None:
        super().__init__(settings)
        self.engines = tuple(name.strip() for name in settings.engines.split(",") if name.strip())
        root = self.url.rstrip("/")
        self.page = self.url if root.endswith("/search") else urljoin(f"{root}/", "search")

    @property
    def index(self) -> str:
        """Whose index it answers from: that of the one engine it is told to ask, else of several."""
        return self.engines[0].lower() if len(self.engines) == 1 else super().index

    def request(self, query: str) -> SearchRequest:
        """Return the request for the page's JSON."""
        asked = super().request(query)
        named = {"engines": ",".join(self.engines)} if self.engines else {}
        return replace(asked, url=self.page, query={**asked.query, **named})

    def parse(self, reply: Reply) -> Reading:
        """Return what an answer says. Nothing found counts only if every engine behind it has answered."""
        document = document_of(reply)
        if document is None or not reply.is_success or not isinstance(document.get("results"), list):
            return Reading()
        rows = [row for row in objects(document["results"]) if row.get("url")]
        unresponsive = document.get("unresponsive_engines") or []
        silent = [str(engine) for engine in (unresponsive if isinstance(unresponsive, list) else [unresponsive])]
        return Reading(
            tuple(dict.fromkeys(str(row["url"]) for row in rows)),
            is_none=not rows and not silent,
            blocked_inside=", ".join(silent),
            shown_by=tuple(dict.fromkeys(engine for row in rows for engine in _engines_of(row))),
        )


def _engines_of(row: dict[str, Any]) -> list[str]:
    """Return the engines that have listed a row; of those that are named more than one may have."""
    named = row.get("engines")
    return [str(engine)[:100] for engine in (named if isinstance(named, list) else [row.get("engine")]) if engine]
