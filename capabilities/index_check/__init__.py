"""Index check: looks URLs up in search results, monitors them, and submits them to search engines."""

FAMILIES = {
    "search": "capabilities.index_check.engines.search",
    "submission": "capabilities.index_check.engines.submission",
}
COMMANDS = {
    "index-check": "capabilities.index_check.commands.index_check",
    "indexnow": "capabilities.index_check.commands.indexnow",
    "search-console": "capabilities.index_check.commands.connected_sites",
}
