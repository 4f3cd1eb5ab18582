"""Bing Webmaster Tools: GetUrlInfo, for sites whose owner has given a key.

It says when Bing found and crawled a page. No field says whether the page is in the index, and Bing leaves crawled
pages out, so its answer is no verdict (docs/decisions/0022).
"""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from capabilities.index_check.engines.search.base.provider import Reply, SearchRequest, document_of, objects
from capabilities.index_check.engines.search.base.site_service import (
    ServiceAccess,
    ServiceAnswer,
    ServiceTrouble,
    SiteService,
    Trouble,
)
from capabilities.index_check.results.raw_result import Inspection
from capabilities.index_check.sites.connections import BING_WEBMASTER
from pipeline.timestamps import timestamp

#: Error codes (learn.microsoft.com, ApiErrorCode): their names, and our troubles.
ERRORS: dict[int, tuple[str, Trouble]] = {
    1: ("InternalError", Trouble.PASSING),
    2: ("UnknownError", Trouble.PASSING),
    3: ("InvalidApiKey", Trouble.DISCONNECTED),
    4: ("ThrottleUser", Trouble.QUOTA),
    5: ("ThrottleHost", Trouble.QUOTA),
    6: ("UserBlocked", Trouble.DISCONNECTED),
    7: ("InvalidUrl", Trouble.URL_REFUSED),
    8: ("InvalidParameter", Trouble.URL_REFUSED),
    10: ("UserNotFound", Trouble.DISCONNECTED),
    11: ("NotFound", Trouble.URL_REFUSED),
    13: ("NotAllowed", Trouble.REFUSED),
    14: ("NotAuthorized", Trouble.REFUSED),
    15: ("UnexpectedState", Trouble.PASSING),
    16: ("Deprecated", Trouble.REFUSED),
}
CODES = {Trouble.QUOTA: "quota", Trouble.DISCONNECTED: "access_revoked", Trouble.REFUSED: "site_refused"}
#: Milliseconds since 1970 in UTC, and the server's zone, which is ignored.
DATE = re.compile(r"/Date\((-?\d{1,15})(?:[+-]\d{4})?\)/")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class KeyAccess:
    """A key of Bing Webmaster Tools, which is sent in the address."""

    def __init__(self, key: str) -> None:
        self.name = f"key ending in {key[-4:]}"
        self._key = key

    def authorize(self, request: SearchRequest) -> SearchRequest:
        return replace(request, query={**request.query, "apikey": self._key})

    def renew(self) -> None:
        """Do nothing: a key does not expire."""


class BingWebmaster(SiteService):
    """GET …/GetUrlInfo."""

    name = BING_WEBMASTER
    index: ClassVar[str] = "bing"

    def open(self, credentials: dict[str, Any]) -> ServiceAccess:
        key = credentials.get("api_key")
        if not isinstance(key, str) or not re.fullmatch(r"[0-9A-Za-z_-]{16,128}", key):
            raise ServiceTrouble(
                Trouble.DISCONNECTED, "credentials_invalid", "a key has 32 letters and digits, and nothing else"
            )
        return KeyAccess(key)

    def sites_request(self) -> SearchRequest:
        return SearchRequest(f"{self.settings.bing_webmaster.url}/GetUserSites")

    def read_sites(self, reply: Reply) -> list[str]:
        sites = objects(_content(reply))
        return [str(site["Url"]) for site in sites if site.get("Url") and site.get("IsVerified")]

    def request(self, url: str, site: str) -> SearchRequest:
        return SearchRequest(f"{self.settings.bing_webmaster.url}/GetUrlInfo", query={"siteUrl": site, "url": url})

    def read(self, reply: Reply, site: str) -> ServiceAnswer:
        """Return the facts of Bing's last crawl. Zero and the year 1 stand for no value."""
        info = _content(reply)
        if not isinstance(info, dict):
            raise ServiceTrouble(Trouble.UNKNOWN, "unrecognised_page", "Bing's answer has no page in it")
        inspection = Inspection(
            service=self.name,
            property=site,
            last_crawl_time=_moment(info.get("LastCrawledDate")),
            discovered_time=_moment(info.get("DiscoveryDate")),
            http_status=_number(info.get("HttpStatus")),
            document_bytes=_number(info.get("DocumentSize")),
        )
        return ServiceAnswer(inspection)


def _content(reply: Reply) -> Any:
    """Return the content of a good reply. Raises ServiceTrouble for any other."""
    document = document_of(reply) or {}
    number = document.get("ErrorCode")
    if isinstance(number, int) and number in ERRORS:
        name, kind = ERRORS[number]
        raise ServiceTrouble(kind, CODES.get(kind, "bing_error"), f"Bing answered {name}", rest=reply.retry_after())
    if reply.status == 429:
        raise ServiceTrouble(Trouble.QUOTA, "quota", "Bing answered HTTP 429", rest=reply.retry_after())
    if reply.status in {401, 403}:
        raise ServiceTrouble(Trouble.REFUSED, "site_refused", f"Bing answered HTTP {reply.status}")
    if reply.status >= 500 or "d" not in document:
        raise ServiceTrouble(Trouble.PASSING, f"http_{reply.status}", f"Bing answered HTTP {reply.status}")
    return document["d"]


def _moment(text: object) -> str | None:
    found = DATE.fullmatch(text) if isinstance(text, str) else None
    milliseconds = int(found[1]) if found else 0
    if milliseconds <= 0:
        return None
    try:
        return timestamp(EPOCH + timedelta(milliseconds=milliseconds))
    except OverflowError:
        return None


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
