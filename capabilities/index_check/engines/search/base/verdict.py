"""Verdict: what a provider's reply means for a page. The table is tested row by row."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from capabilities.index_check.engines.search.base.provider import Provider, Reading, Reply
from capabilities.index_check.results.raw_result import Reason
from pipeline.downloads.urls import match_key

CHALLENGE_PATHS = ("/sorry", "/sp/captcha", "/captcha")
#: Codes of evasions: rows of other sites, or no row of a site that is surely listed. Several in a row are a block.
EVASIONS = frozenset(("operator_ignored", "empty_unproven"))
#: Codes of pages that will look the same next time. After several in a row the provider is out of use for the job.
UNUSABLE = frozenset(("opaque_links", "request_refused"))

MAX_NEAR = 5
#: Longest row that is looked at; a submitted URL is at most half as long (pipeline/downloads/urls.py).
MAX_ROW_CHARACTERS = 4_096
#: Characters that no address has, and no row of a database takes.
UNFIT = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
MOBILE_PREFIXES = ("m.", "mobile.", "amp.")
AMP_CACHE = ".cdn.ampproject.org"


@dataclass(frozen=True, slots=True)
class Match:
    """The row that is the page, if any, and the rows that are nearly it, with their relation."""

    url: str | None = None
    near: tuple[tuple[str, str], ...] = ()
    has_host: bool = False  # some row is on the page's host, or on a subdomain of it


NO_MATCH = Match()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The finding about a URL, and its finer cause."""

    reason: Reason
    code: str
    match: Match = NO_MATCH
    rest: timedelta = timedelta()  # the wait that the provider asks for
    detail: str = ""  # tells the causes of a code apart

    @property
    def cause(self) -> str:
        """The code with its detail, such as config:credits."""
        return f"{self.code}:{self.detail}" if self.detail else self.code

    @property
    def is_answer(self) -> bool:
        return self.reason in {"indexed", "not_indexed"}

    @property
    def is_passing(self) -> bool:
        """True if the provider itself is in trouble, and may answer later."""
        return self.code == "transport" or self.code.startswith("http_5")


def classify(
    provider: Provider,
    reply: Reply | None,
    reading: Reading,
    key: str,
    *,
    is_operator: bool = False,
) -> Verdict:
    """Return the verdict on the page of a match key; the first condition that holds counts. Pure.

    `reply` is None if there was none. `is_operator`: the query was for pages of one site alone, so rows of others are
    no answer. "Not indexed" is the verdict on this query; a check needs it for each form of the query."""
    if reply is None:
        return Verdict("error", "transport")
    rest = reply.retry_after()
    if any(path.startswith(CHALLENGE_PATHS) for path in reply.paths):
        return Verdict("rate_limited", "captcha", rest=rest)
    if reading.refused:
        # Before the throttle: an API may also say 429 when our account is empty.
        return Verdict("error", "config", detail=reading.refused)
    if reply.status in provider.throttle_statuses or (provider.is_api and reply.status == 403 and reading.is_quota):
        # A challenge says more than its status: it opens the breaker for longer.
        return Verdict("rate_limited", "captcha" if reading.is_challenge else "throttled", rest=rest)
    if provider.is_api and reply.status in {401, 402, 403}:
        return Verdict("error", "config")
    if provider.is_api and reply.status in {400, 422}:
        return Verdict("error", "request_refused")
    if reply.is_success and (reading.rows or reading.opaque):
        return _of_rows(reading, match(reading.rows, key), is_operator=is_operator)
    if reading.is_challenge:
        return Verdict("rate_limited", "captcha", rest=rest)
    if reading.blocked_inside:
        return Verdict("error", "engines_blocked")
    if not reply.is_success:
        return Verdict("error", f"http_{reply.status}", rest=rest)
    if reading.is_none:
        return Verdict("not_indexed", "no_results")
    return Verdict("error", "unrecognised_page")


def _of_rows(reading: Reading, found: Match, *, is_operator: bool) -> Verdict:
    if found.url is not None:
        return Verdict("indexed", "match", found)
    if reading.opaque:
        return Verdict("error", "opaque_links", found)
    if reading.blocked_inside:
        return Verdict("error", "engines_blocked", found)
    if is_operator and not found.has_host:
        return Verdict("error", "operator_ignored")
    return Verdict("not_indexed", "no_match", found)


def match(rows: Iterable[str], wanted: str) -> Match:
    host, path = _parts(wanted)[:2]
    site = f".{_without_port(host)}"
    near: list[tuple[str, str]] = []
    has_host = False
    found = None
    for row in rows:
        if len(row) > MAX_ROW_CHARACTERS or UNFIT.search(row) or (key := match_key(row)) is None:
            continue
        row_host, row_path, _ = _parts(key)
        # `site:` covers subdomains.
        has_host = has_host or f".{_without_port(row_host)}".endswith(site)
        if key == wanted:
            found = found or row
        elif _plain(key) == _plain(wanted):
            has_host = True
            near.append((row, "variant"))
        elif row_host == host and row_path.startswith(path + "/"):
            near.append((row, "deeper"))
    return Match(found, tuple(near[:MAX_NEAR]), has_host)


def _parts(key: str) -> tuple[str, str, str]:
    """Return the host of a match key, with its port if it has one, its path and its query."""
    host, slash, path = re.split(r"[?#]", key, maxsplit=1)[0].partition("/")
    return host, slash + path, key.partition("?")[2].partition("#")[0]


def _without_port(host: str) -> str:
    return re.sub(r":\d+$", "", host)


def _plain(key: str) -> str:
    """Return a match key that is the same for mobile, AMP and upper-case copies of a page."""
    host, path, query = _parts(key)
    path = path.lower()
    if host.endswith(AMP_CACHE):
        # /c/s/example.com/page: content, over TLS, of that host.
        parts = [part for part in path.split("/") if part]
        while parts and parts[0] in {"c", "v", "s"}:
            parts.pop(0)
        host, path = (parts[0], "".join(f"/{part}" for part in parts[1:])) if parts else (host, path)
    for prefix in MOBILE_PREFIXES:
        host = host.removeprefix(prefix)
    kept = "&".join(part for part in query.split("&") if part and part not in {"amp", "amp=1"})
    return f"{host}{path.removesuffix('/amp')}?{kept}"
