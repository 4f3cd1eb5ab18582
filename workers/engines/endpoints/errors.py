"""Errors of an endpoint, and how its answer tells which one happened."""

import json
from collections.abc import Mapping
from datetime import timedelta

from pipeline.downloads.failures import read_retry_after
from workers.engines import EngineBusy, EngineUnavailable

#: Characters that are quoted of a server's own message.
MOST_QUOTED = 200
#: A server that is busy and names no time is asked again after this.
BUSY_PAUSE = timedelta(seconds=10)
#: Longest Retry-After that is believed.
LONGEST_PAUSE = timedelta(hours=1)
#: Codes and words by which servers say that the credit is spent, with the same status as "too many requests".
#: A rate limit of OpenAI's has a link to /account/billing, so that word alone says nothing.
QUOTA = (
    *("insufficient_quota", "billing_", "billing details", "quota exceeded"),
    *("budget has been exceeded", "exceeded your current quota"),
)


class EndpointFailed(EngineUnavailable):
    """The endpoint can't serve; `lasting` is True if the next request would fail as well."""

    lasting = False

    def __init__(self, name: str, reason: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(f"The endpoint {name} {reason}.", retry_after=retry_after)
        self.reason = reason


class EndpointAway(EndpointFailed):
    """The endpoint can't be reached, hangs, or breaks off."""

    lasting = True


class EndpointBusy(EndpointFailed, EngineBusy):
    """The endpoint asks for a pause (429)."""

    code = "endpoint_busy"


class KeyRefused(EndpointFailed):
    """The endpoint refuses the key (401, 403)."""

    code = "endpoint_key_refused"
    lasting = True


class QuotaSpent(EndpointFailed):
    """The key's credit at the endpoint is spent (402, or 429 with its code)."""

    code = "endpoint_quota_spent"
    lasting = True


class ModelUnknown(EndpointFailed):
    """The endpoint has no such model or route (404)."""

    code = "endpoint_model_unknown"
    lasting = True


class RequestRefused(EndpointFailed):
    """The endpoint refuses this one request (other 4xx); `message` of the server in `said`."""

    code = "endpoint_refused"

    def __init__(self, name: str, reason: str, said: str) -> None:
        super().__init__(name, reason)
        self.said = said


class AnswerInvalid(EndpointFailed):
    """The answer is not in the form of the API: no JSON, too long, cut off, or another language."""

    code = "endpoint_answer_invalid"


def refusal(name: str, status: int, headers: Mapping[str, str], body: bytes, *, key: str | None) -> EndpointFailed:
    """Return the error for a status that is not a success, without the key if the server repeats it."""
    said = _said(body)
    if key:
        said = said.replace(key, "***")
    quoted = f": {said[:MOST_QUOTED]!r}" if said else ""
    if status in (301, 302, 303, 307, 308):
        return EndpointAway(name, "answers with a redirect, which is not followed; set the address it leads to")
    if status in (401, 403):
        return KeyRefused(name, f"refuses the key (HTTP {status})")
    if status == 402 or (status == 429 and any(sign in f"{said} {body[:2000]!r}".lower() for sign in QUOTA)):
        return QuotaSpent(name, f"says that the credit of its key is spent (HTTP {status})")
    if status in (429, 503):
        asked = read_retry_after(headers.get("Retry-After", ""))
        return EndpointBusy(name, f"is busy (HTTP {status})", retry_after=min(asked or BUSY_PAUSE, LONGEST_PAUSE))
    if status == 404:
        return ModelUnknown(name, f"has no such model or route (HTTP 404{quoted})")
    if status >= 500:
        return EndpointAway(name, f"failed (HTTP {status}{quoted})")
    return RequestRefused(name, f"refused the request (HTTP {status}{quoted})", said)


def _said(body: bytes) -> str:
    """Return the message of an error, which is an object, a flat object or a text, by server."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        # All of it: a key that is cut off would not be recognised.
        return " ".join(body.decode("utf-8", "replace").split()) if body[:1] != b"<" else ""
    for _ in range(2):
        if isinstance(found, Mapping):
            found = found.get("error") or found.get("message") or found.get("detail") or ""
    return " ".join(str(found).split())
