"""Unchecked: what is said of a URL that no search provider gave an answer about."""

from typing import Any

from capabilities.index_check.providers.causes import BLOCKS, cause_of, code_of
from pipeline.errors import PressroomError

#: What helps an operator; `{setting}` is the provider's key.
REMEDIES = {
    # Only SearXNG has no key: it refuses whoever asks for JSON until its own settings allow that.
    "config": "it has to have `json` among its `formats`",
    "config:key": "check {setting}",
    "config:credits": "top its account up, or set another {setting}",
}


#: What helps whoever sent the URL.
ADVICE = {
    "transport": "Retry it later; if that lasts, the operator should see whether this machine reaches the Internet.",
    "engine_unavailable": "Retry it later; the operator sees by `pressroom doctor` what is missing.",
    "query_too_long": "Name another `engine`.",
}


class UrlUnchecked(PressroomError):
    """No provider gave an answer about a URL; `shown` stands in its record."""

    def __init__(self, code: str, *, cause: str = "", remedy: str = "", **shown: Any) -> None:
        is_block = code in BLOCKS
        remedy = remedy or ("Retry it later, with fewer others." if is_block else ADVICE.get(code, ""))
        message = f"The URL was not checked: {cause or cause_of(code)}. Nothing was charged for it. {remedy}".rstrip()
        super().__init__(message, code=code, **{"reason": "rate_limited" if is_block else "error", **shown})


def faulty(fault: str) -> UrlUnchecked:
    """Return why a URL of a request that skips such URLs is not asked about; `fault` goes on after "the URL"."""
    return UrlUnchecked("url_invalid", cause=fault, remedy="Correct it.")


def unasked(provider: str, reason: str | None) -> UrlUnchecked:
    """Return why a URL was not asked of a provider, which is out of use for a while."""
    reason = reason or "engine_unavailable"
    code = code_of(reason)
    state = "blocks us" if code in BLOCKS else "is out of use"
    return UrlUnchecked(
        code,
        cause=f"{provider} {state}, so it was not asked this time ({cause_of(reason)})",
        remedy="Name another `engine`, or retry it later.",
        provider=provider,
    )


def advice_on(cause: str, provider: str) -> str:
    """Return in words why a provider rests, and what an operator may do about it."""
    setting = f"PRESSROOM_SEARCH__{provider.upper()}__API_KEY"
    remedy = REMEDIES.get(cause, "").format(setting=setting)
    return f"{cause_of(cause)}: {remedy}" if remedy else cause_of(cause)
