"""Verdict: what a provider's reply means for a page. The table is tested row by row."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from urllib.parse import urlsplit

from workers.engines.search.base.matching import Match, match
from workers.engines.search.base.pages import Form, Reading, Reply, retry_after_of

Reason = Literal["indexed", "not_indexed", "rate_limited", "error"]

CHALLENGE_PATHS = ("/sorry", "/sp/captcha", "/captcha")
CHALLENGE_HOSTS = ("sorry.google.com",)
CONSENT_HOSTS = ("consent.google.", "consent.youtube.", "consent.yahoo.", "guce.")
#: Codes of pages that will look the same next time: some in a row, and the provider is out of use.
UNUSABLE = frozenset(("js_required", "opaque_links", "consent_required"))

NO_MATCH = Match()


@dataclass(frozen=True, slots=True)
class Traits:
    """How a provider differs from others where its replies are judged."""

    is_api: bool = False
    throttle_statuses: frozenset[int] = frozenset((429,))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found out, and the finer cause. `ask_again`: with the next form of the query."""

    reason: Reason
    code: str
    match: Match = NO_MATCH
    ask_again: bool = False
    rest: timedelta = timedelta()  # what the provider itself asked for

    @property
    def is_answer(self) -> bool:
        """Whether it says something about the page."""
        return self.reason in {"indexed", "not_indexed"}

    @property
    def is_passing(self) -> bool:
        """Whether the provider itself is in trouble, and may well answer later."""
        return self.code == "transport" or self.code.startswith("http_5")


def classify(
    reply: Reply | None,
    reading: Reading,
    *,
    url: str,
    form: Form,
    traits: Traits,
    accept_variants: bool = False,
) -> Verdict:
    """Return the verdict on a page; the first condition that holds counts. No reply at all is None. Pure."""
    if reply is None:
        return Verdict("error", "transport")
    if _is_challenge_address(reply):
        return Verdict("rate_limited", "captcha", rest=retry_after_of(reply))
    if reply.status in traits.throttle_statuses or (traits.is_api and reply.status == 403 and reading.is_quota):
        # A challenge says more than its status: it opens the breaker for longer.
        code = "captcha" if reading.is_challenge else "throttled"
        return Verdict("rate_limited", code, rest=retry_after_of(reply))
    if traits.is_api and reply.status in {400, 401, 402, 403}:
        return Verdict("error", "config")
    if reading.is_consent or _is_consent_address(reply):
        return Verdict("error", "consent_required")
    if reply.is_success and (reading.rows or reading.opaque):
        return _of_rows(reading, match(reading.rows, url, accept_variants=accept_variants), form)
    if reading.is_challenge or reading.blocked_inside:
        code = "captcha" if reading.is_challenge else "engines_blocked"
        return Verdict("rate_limited", code, rest=retry_after_of(reply))
    if not reply.is_success:
        return Verdict("error", f"http_{reply.status}", rest=retry_after_of(reply))
    if reading.is_script:
        return Verdict("error", "js_required")
    if reading.is_none:
        return Verdict("not_indexed", "no_results")
    return Verdict("error", "unrecognised_page")


def _of_rows(reading: Reading, found: Match, form: Form) -> Verdict:
    if found.url is not None:
        return Verdict("indexed", "match", found)
    if reading.opaque:
        return Verdict("error", "opaque_links", found)
    return Verdict("not_indexed", "no_match", found, ask_again=form == "site" and not found.has_host)


def _is_challenge_address(reply: Reply) -> bool:
    return any(host in CHALLENGE_HOSTS or path.startswith(CHALLENGE_PATHS) for host, path in _places(reply))


def _is_consent_address(reply: Reply) -> bool:
    return any(host.startswith(CONSENT_HOSTS) for host, _ in _places(reply))


def _places(reply: Reply) -> list[tuple[str, str]]:
    """Return the host and path that was asked last, and those that it would have sent us on to."""
    found = [urlsplit(address) for address in (reply.url, reply.location)]
    return [(parts.hostname or "", parts.path) for parts in found]
