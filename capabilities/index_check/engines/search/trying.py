"""Trying: a search provider is asked for the control site, to know whether it answers us at all."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial

from capabilities.index_check.engines.search.base.client import PageTooLarge, SearchClient, Unreachable
from capabilities.index_check.engines.search.base.provider import OPERATORS, Provider
from capabilities.index_check.engines.search.base.verdict import Verdict, classify
from capabilities.index_check.settings import SearchSettings
from pipeline.downloads.urls import match_key


def try_providers(providers: Sequence[Provider], settings: SearchSettings) -> list[Verdict]:
    """Ask all providers at once, each one query; returns their verdicts on the control site, in order."""
    if not providers:
        return []
    with closing(SearchClient(settings)) as client, ThreadPoolExecutor(len(providers)) as threads:
        return list(threads.map(partial(_try, client, settings), providers))


def _try(client: SearchClient, settings: SearchSettings, provider: Provider) -> Verdict:
    site = settings.control_site
    query = provider.site_query(f"https://{site}")
    try:
        reply = provider.meaning(client.ask(provider.request(query)))
        reading = provider.parse(reply)
    except Unreachable:
        return Verdict("error", "transport")
    except PageTooLarge:
        return Verdict("error", "page_too_large")
    verdict = classify(provider, reply, reading, match_key(site) or site, is_operator=query.startswith(OPERATORS))
    # A page without one row of a site that everybody knows answers nothing.
    is_empty = verdict.is_answer and not verdict.match.has_host
    return Verdict("error", "empty_unproven") if is_empty else verdict
