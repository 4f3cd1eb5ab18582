"""Causes: why a search provider gave no answer, in words."""

from collections.abc import Mapping

#: Codes of blocks: the same URL may be answered later.
BLOCKS = frozenset(("captcha", "throttled"))

#: Messages by code, or by code and detail.
MESSAGES: Mapping[str, str] = {
    "captcha": "the search engine asked for a captcha",
    "throttled": "the search engine refused more queries for now",
    "engines_blocked": "some of the search engines behind it did not answer",
    "operator_ignored": "the search engine showed pages of other sites only",
    "empty_unproven": "the search engine gave empty pages, for a site that is surely listed as well",
    "transport": "the search engine could not be reached",
    "config": "the search provider refused us",
    "config:key": "the search provider refused our key",
    "config:credits": "our account at the search provider has nothing left to pay with",
    "request_refused": "the search provider took the query for a faulty one",
    "consent_required": "the search engine asked for consent",
    "js_required": "the search engine wants JavaScript",
    "opaque_links": "the addresses of the results can't be read",
    "unrecognised_page": "the page was none that we know",
    "page_too_large": "the page did not end",
    "query_too_long": "the URL is too long for the search engine's queries",
    "engine_unavailable": "no search provider can be used now",
}


def cause_of(cause: str) -> str:
    """Return the message of a code, or of a code with its detail (config:credits)."""
    return MESSAGES.get(cause) or MESSAGES.get(code_of(cause), "the search engine failed")


def code_of(cause: str) -> str:
    """Return the code without its detail."""
    return cause.partition(":")[0]
