"""Unchecked: why a URL has no answer from any search provider, and what helps."""

from typing import Any

from capabilities.index_check.providers.causes import BLOCKS, cause_of, code_of
from pipeline.errors import PressroomError

#: Remedies for an operator; `{setting}` is the provider's key.
REMEDIES = {
    # Only SearXNG has no key: by default it refuses requests for JSON.
    "config": "it has to have `json` among its `formats`",
    "config:key": "check {setting}",
    "config:credits": "top its account up, or set another {setting}",
}
#: Remedies for the sender of the URL.
ADVICE = {
    "transport": "Retry it later; if that lasts, the operator should see whether this machine reaches the Internet.",
    "engine_unavailable": "Retry it later; the operator sees by `pressroom doctor` what is missing.",
    "query_too_long": "Name another `engine`.",
}


class UrlUnchecked(PressroomError):
    """No provider gave an answer about a URL. Its record shows the fields in `shown`."""

    def __init__(self, code: str, *, cause: str = "", remedy: str = "", **shown: Any) -> None:
        is_block = code in BLOCKS
        remedy = remedy or ("Retry it later, with fewer others." if is_block else ADVICE.get(code, ""))
        message = f"The URL was not checked: {cause or cause_of(code)}. Nothing was charged for it. {remedy}".rstrip()
        super().__init__(message, code=code, **{"reason": "rate_limited" if is_block else "error", **shown})


def faulty(fault: str) -> UrlUnchecked:
    """Return the error of an invalid URL in a request that skips such URLs."""
    return UrlUnchecked("url_invalid", cause=fault, remedy="Correct it.")


def unasked(provider: str, reason: str | None) -> UrlUnchecked:
    """Return the error of a URL whose provider is out of use."""
    reason = reason or "engine_unavailable"
    code = code_of(reason)
    state = "blocks us" if code in BLOCKS else "is out of use"
    cause = f"{provider} {state}, so it was not asked this time ({cause_of(reason)})"
    return UrlUnchecked(code, cause=cause, remedy="Name another `engine`, or retry it later.", provider=provider)


def advice_on(cause: str, provider: str) -> str:
    """Return why a provider rests, and what an operator can do."""
    setting = f"PRESSROOM_SEARCH__{provider.upper()}__API_KEY"
    remedy = REMEDIES.get(cause, "").format(setting=setting)
    return f"{cause_of(cause)}: {remedy}" if remedy else cause_of(cause)
