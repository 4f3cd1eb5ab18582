"""Search providers, one a file. `base` is what they share: client, pages, verdict."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: Which of them are asked, and in what order, SearchSettings says.
ENGINES: Mapping[str, str] = {
    "serper": "capabilities.index_check.engines.search.serper:Serper",
    "serpapi": "capabilities.index_check.engines.search.serpapi:SerpApi",
    "dataforseo": "capabilities.index_check.engines.search.dataforseo:DataForSeo",
    "brave_api": "capabilities.index_check.engines.search.brave_api:BraveApi",
    "searxng": "capabilities.index_check.engines.search.searxng:Searxng",
    "duckduckgo": "capabilities.index_check.engines.search.duckduckgo:DuckDuckGo",
    "bing": "capabilities.index_check.engines.search.bing:Bing",
    "google": "capabilities.index_check.engines.search.google:Google",
}


def advise(providers: Sequence[Any]) -> Iterator[str]:
    """Say what the providers that are set up can't promise."""
    ready = [provider for provider in providers if provider.readiness() is None]
    if ready and not any(getattr(provider, "is_api", False) for provider in ready):
        yield (
            "without a key, pages made for people are asked, which may block this address or leave results out at any"
            " time: what they miss may be indexed all the same"
        )
    # Google's own pages want JavaScript.
    apis = {getattr(provider, "index", "") for provider in ready if getattr(provider, "is_api", False)}
    if ready and "google" not in apis:
        keys = ("SERPER", "SERPAPI", "DATAFORSEO")
        yield (
            f"nobody answers for Google: set {' or '.join(f'PRESSROOM_SEARCH__{key}__API_KEY' for key in keys)}"
            "; of sites of your own Google tells by `pressroom search-console connect`"
        )
