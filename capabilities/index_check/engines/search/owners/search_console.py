"""Search Console: Google's URL Inspection, for sites whose owner has given access."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from capabilities.index_check.engines.search.base.provider import Reply, SearchRequest, document_of, objects
from capabilities.index_check.engines.search.base.site_service import (
    Ask,
    ServiceAccess,
    ServiceAnswer,
    ServiceTrouble,
    Trouble,
    send,
)
from capabilities.index_check.engines.search.owners.google_access import open_access
from capabilities.index_check.results.raw_result import Inspection, Reason
from capabilities.index_check.settings import SearchSettings
from capabilities.index_check.sites.connections import SEARCH_CONSOLE

#: Reasons of errors that mean a quota (developers.google.com/webmaster-tools/v1/errors), and the daily quota.
QUOTA_REASONS = frozenset(
    ("quotaExceeded", "rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED")
)
DAY_REASONS = frozenset(("dailyLimitExceeded", "dailyLimitExceededUnreg"))
#: Part of a daily limit's name in an error of the newer form.
DAY_LIMIT = "PerDay"
#: The API is not enabled in the credentials' project.
OFF_REASONS = frozenset(("SERVICE_DISABLED", "accessNotConfigured"))
#: A user who may see no more than that a property exists (developers.google.com/webmaster-tools/v1/sites).
WITHOUT_ACCESS = "siteUnverifiedUser"
FIELDS = {
    "verdict": "verdict",
    "coverageState": "coverage_state",
    "googleCanonical": "google_canonical",
    "userCanonical": "user_canonical",
    "lastCrawlTime": "last_crawl_time",
    "robotsTxtState": "robots_txt_state",
    "indexingState": "indexing_state",
    "pageFetchState": "page_fetch_state",
}
#: Signs that Google writes in several ways.
SAME = str.maketrans({"‘": "'", "’": "'", "–": "-", "—": "-"})


class SearchConsole:
    """POST /v1/urlInspection/index:inspect."""

    def __init__(self, settings: SearchSettings) -> None:
        self._settings = settings

    def open(self, credentials: dict[str, Any]) -> ServiceAccess:
        """Return the access that stored credentials give. Raises ServiceTrouble, NotReady."""
        return open_access(credentials, self._settings)

    def list_sites(self, ask: Ask, access: ServiceAccess) -> list[str]:
        """Return the properties that an access covers. Raises ServiceTrouble."""
        return self.read_sites(send(ask, access, SearchRequest(self._settings.search_console.sites_url)))

    def inspect(self, ask: Ask, access: ServiceAccess, url: str, site: str) -> ServiceAnswer:
        """Return Google's answer about a URL of one of its properties. Raises ServiceTrouble."""
        # In English: the states are texts.
        asked = {"inspectionUrl": url, "siteUrl": site, "languageCode": "en-US"}
        request = SearchRequest(self._settings.search_console.url, "POST", json=asked)
        return self.read(send(ask, access, request), site)

    def read_sites(self, reply: Reply) -> list[str]:
        entries = [one for one in objects(_document(reply).get("siteEntry")) if one.get("siteUrl")]
        return [str(one["siteUrl"]) for one in entries if one.get("permissionLevel") != WITHOUT_ACCESS]

    def read(self, reply: Reply, site: str) -> ServiceAnswer:
        result = _document(reply).get("inspectionResult")
        status = result.get("indexStatusResult") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(status, dict):
            raise ServiceTrouble(Trouble.UNKNOWN, "unknown_coverage", "Google's answer has no index status")
        found = {ours: str(status[theirs]) for theirs, ours in FIELDS.items() if status.get(theirs)}
        inspection = Inspection.model_validate({"service": SEARCH_CONSOLE, "property": site, **found})
        reason, code = judge(inspection.verdict, inspection.coverage_state)
        return ServiceAnswer(inspection, reason, code, str(result.get("inspectionResultLink") or ""))


def judge(verdict: str | None, coverage_state: str | None) -> tuple[Reason, str]:
    """Return the meaning of a verdict and a state, with a code. Raises ServiceTrouble if they are unknown.

    PASS means indexed; for NEUTRAL and FAIL the state says why not. PARTIAL is out of use: its state alone counts."""
    indexed, not_indexed = _states()
    state = " ".join((coverage_state or "").translate(SAME).lower().split())
    if verdict == "PASS" and state not in not_indexed:
        return "indexed", indexed.get(state, "indexed")
    if verdict in {"NEUTRAL", "FAIL", "PARTIAL"} and state in indexed:
        return "indexed", indexed[state]
    if verdict in {"NEUTRAL", "FAIL"} and state in not_indexed:
        return "not_indexed", not_indexed[state]
    raise ServiceTrouble(
        Trouble.UNKNOWN, "unknown_coverage", f"Google says {verdict}, {coverage_state!a}, which we can't read"[:300]
    )


@cache
def _states() -> tuple[Mapping[str, str], Mapping[str, str]]:
    file = files("capabilities.index_check.engines.search").joinpath("coverage_states.toml")
    table = tomllib.loads(file.read_text("utf-8"))
    return table["indexed"], table["not_indexed"]


def _document(reply: Reply) -> dict[str, Any]:
    """Return the document of a good reply. Raises ServiceTrouble for any other."""
    document = document_of(reply)
    if reply.is_success:
        if document is None:
            raise ServiceTrouble(Trouble.PASSING, "unrecognised_page", "Google's answer was not JSON")
        return document
    error = (document or {}).get("error")
    raise _trouble_of(reply, error if isinstance(error, dict) else {})


def _trouble_of(reply: Reply, error: dict[str, Any]) -> ServiceTrouble:
    reasons, limits = _reasons(error), _limits(error)
    said = " ".join(str(error.get("message", "")).split())[:200]
    detail = f"Google answered HTTP {reply.status}" + (f" ({said})" if said else "")
    if reasons & DAY_REASONS or (any(DAY_LIMIT in limit for limit in limits) and reply.status in {403, 429}):
        return ServiceTrouble(Trouble.DAY_QUOTA, "quota", detail, rest=reply.retry_after())
    if reply.status == 429 or (reply.status == 403 and reasons & QUOTA_REASONS):
        return ServiceTrouble(Trouble.QUOTA, "quota", detail, rest=reply.retry_after())
    if reasons & OFF_REASONS:
        detail += "; turn the Search Console API on in the project"
        return ServiceTrouble(Trouble.DISCONNECTED, "api_disabled", detail)
    if reply.status == 401:
        return ServiceTrouble(Trouble.NO_ACCESS, "access_refused", detail)
    if reply.status == 403:
        return ServiceTrouble(Trouble.REFUSED, "site_refused", detail)
    if reply.status >= 500:
        return ServiceTrouble(Trouble.PASSING, f"http_{reply.status}", detail)
    return ServiceTrouble(Trouble.URL_REFUSED, f"http_{reply.status}", detail)


def _reasons(error: dict[str, Any]) -> set[str]:
    parts = [part for name in ("errors", "details") for part in objects(error.get(name))]
    return {str(part["reason"]) for part in parts if part.get("reason")} | {str(error.get("status", ""))}


def _limits(error: dict[str, Any]) -> list[str]:
    metadata = [part.get("metadata") for part in objects(error.get("details"))]
    return [str(one.get("quota_limit", "")) for one in metadata if isinstance(one, dict)]
