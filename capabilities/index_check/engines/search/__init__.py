"""Search providers. `base` has the client, the reading of pages and the verdict, which they share."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: SearchSettings decides which of them are asked, and in what order.
ENGINES: Mapping[str, str] = {
    "serper": "capabilities.index_check.engines.search.keyed_apis:Serper",
    "serpapi": "capabilities.index_check.engines.search.keyed_apis:SerpApi",
    "brave_api": "capabilities.index_check.engines.search.keyed_apis:BraveApi",
    "searxng": "capabilities.index_check.engines.search.searxng:Searxng",
    "duckduckgo": "capabilities.index_check.engines.search.result_pages:DuckDuckGo",
    "bing": "capabilities.index_check.engines.search.result_pages:Bing",
}


def advise(providers: Sequence[Any]) -> Iterator[str]:
    ready = [provider for provider in providers if provider.readiness() is None]
    apis = {getattr(provider, "index", "") for provider in ready if getattr(provider, "is_api", False)}
    if ready and not apis:
        yield (
            "without a key, pages made for people are asked, which may block this address or leave results out at any"
            " time: a page that they miss may still be indexed"
        )
    if ready and "google" not in apis:
        yield (
            "nobody answers for Google: set PRESSROOM_SEARCH__SERPER__API_KEY or PRESSROOM_SEARCH__SERPAPI__API_KEY"
            "; for sites of your own, run `pressroom search-console connect`"
        )
