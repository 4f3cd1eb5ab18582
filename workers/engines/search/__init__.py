"""Search providers: is a page in their results? One file each; what they have in common is beside them."""

from collections.abc import Mapping

#: Which of them are asked, and in what order, SearchSettings says.
ENGINES: Mapping[str, str] = {
    "duckduckgo": "workers.engines.search.duckduckgo:DuckDuckGo",
    "bing": "workers.engines.search.bing:Bing",
    "google": "workers.engines.search.google:Google",
    "searxng": "workers.engines.search.searxng:Searxng",
    "brave_api": "workers.engines.search.apis:BraveApi",
    "serper": "workers.engines.search.apis:Serper",
    "serpapi": "workers.engines.search.apis:SerpApi",
}
