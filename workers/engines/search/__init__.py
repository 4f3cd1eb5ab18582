"""Search providers, one a file. `base` is what they share: client, pages, verdict."""

from collections.abc import Mapping

#: Which of them are asked, and in what order, SearchSettings says.
ENGINES: Mapping[str, str] = {
    "serper": "workers.engines.search.serper:Serper",
    "serpapi": "workers.engines.search.serpapi:SerpApi",
    "dataforseo": "workers.engines.search.dataforseo:DataForSeo",
    "brave_api": "workers.engines.search.brave_api:BraveApi",
    "searxng": "workers.engines.search.searxng:Searxng",
    "duckduckgo": "workers.engines.search.duckduckgo:DuckDuckGo",
    "bing": "workers.engines.search.bing:Bing",
    "google": "workers.engines.search.google:Google",
}
