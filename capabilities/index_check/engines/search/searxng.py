"""SearXNG: the JSON of an instance of the operator's own."""

from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urljoin

from capabilities.index_check.engines.search.base.provider import (
    Provider,
    Reading,
    Reply,
    SearchRequest,
    document_of,
    objects,
)
from capabilities.index_check.settings import SearxngSettings


class Searxng(Provider):
    """GET /search?format=json."""

    name = "searxng"
    is_api = True
    needs_proof = True
    parameters: ClassVar = {"format": "json"}  # no language: some engines answer a wrong one with empty pages

    def __init__(self, settings: SearxngSettings) -> None:
        super().__init__(settings)
        self.engines = tuple(name.strip() for name in settings.engines.split(",") if name.strip())
        root = self.url.rstrip("/")
        self.page = self.url if root.endswith("/search") else urljoin(f"{root}/", "search")

    @property
    def index(self) -> str:
        """The index that it answers from: that of its one engine, else `mixed`."""
        return self.engines[0].lower() if len(self.engines) == 1 else super().index

    def request(self, query: str) -> SearchRequest:
        asked = super().request(query)
        named = {"engines": ",".join(self.engines)} if self.engines else {}
        return replace(asked, url=self.page, query={**asked.query, **named})

    def parse(self, reply: Reply) -> Reading:
        """Return an answer's reading. "Nothing found" counts only if every engine behind it has answered."""
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
    named = row.get("engines")
    return [str(engine)[:100] for engine in (named if isinstance(named, list) else [row.get("engine")]) if engine]
