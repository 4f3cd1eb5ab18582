"""Causes: why a search provider gave no answer, in words, and what helps."""

from collections.abc import Mapping
from typing import Any

from pipeline.errors import PressroomError

#: Codes of blocks: the same URL may be answered later.
BLOCKS = frozenset(("captcha", "throttled"))

MESSAGES: Mapping[str, str] = {
    "captcha": "the search engine asked for a captcha",
    "throttled": "the search engine refused more queries for now",
    "engines_blocked": "some of the search engines behind it did not answer",
    "operator_ignored": "the search engine showed pages of other sites only",
    "empty_unproven": "the search engine sent empty pages, even for a site that it surely lists",
    "transport": "the search engine could not be reached",
    "config": "the search provider refused us",
    "config:key": "the search provider refused our key",
    "config:credits": "our account at the search provider is empty",
    "request_refused": "the search provider rejected the query",
    "opaque_links": "the addresses of the results can't be read",
    "unrecognised_page": "the page is none that we can read",
    "page_too_large": "the page was too large",
    "query_too_long": "the URL is too long for the search engine's queries",
    "engine_unavailable": "no search provider is available",
}

#: Remedies for an operator; `{setting}` is the provider's key.
REMEDIES = {
    # Only SearXNG has no key: by default it refuses requests for JSON.
    "config": "add `json` to its `formats`",
    "config:key": "check {setting}",
    "config:credits": "top its account up, or set another {setting}",
}
#: Remedies for the sender of the URL.
ADVICE = {
    "transport": "Retry it later. If that lasts, the operator should check this machine's Internet access.",
    "engine_unavailable": "Retry it later; `pressroom doctor` shows the operator what is missing.",
    "query_too_long": "Name another `engine`.",
}


def cause_of(cause: str) -> str:
    """Return the message of a code, or of a code with its detail (config:credits)."""
    return MESSAGES.get(cause) or MESSAGES.get(code_of(cause), "the search engine failed")


def code_of(cause: str) -> str:
    return cause.partition(":")[0]


class UrlUnchecked(PressroomError):
    """No provider gave an answer about a URL. Its record shows the fields in `shown`."""

    def __init__(self, code: str, *, cause: str = "", remedy: str = "", **shown: Any) -> None:
        is_block = code in BLOCKS
        remedy = remedy or ("Retry it later, with fewer others." if is_block else ADVICE.get(code, ""))
        message = f"The URL was not checked: {cause or cause_of(code)}. Nothing was charged for it. {remedy}".rstrip()
        super().__init__(message, code=code, **{"reason": "rate_limited" if is_block else "error", **shown})


def faulty(fault: str) -> UrlUnchecked:
    return UrlUnchecked("url_invalid", cause=fault, remedy="Correct it.")


def unasked(provider: str, reason: str | None) -> UrlUnchecked:
    reason = reason or "engine_unavailable"
    code = code_of(reason)
    state = "blocks us" if code in BLOCKS else "is out of use"
    cause = f"{provider} {state}, so it was not asked this time ({cause_of(reason)})"
    return UrlUnchecked(code, cause=cause, remedy="Name another `engine`, or retry it later.", provider=provider)


def advice_on(cause: str, provider: str) -> str:
    setting = f"PRESSROOM_SEARCH__{provider.upper()}__API_KEY"
    remedy = REMEDIES.get(cause, "").format(setting=setting)
    return f"{cause_of(cause)}: {remedy}" if remedy else cause_of(cause)
