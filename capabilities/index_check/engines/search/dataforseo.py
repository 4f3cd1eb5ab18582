"""DataForSEO: an API for Google's results."""

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from capabilities.index_check.engines.search.base.provider import (
    ApiProvider,
    Reply,
    SearchRequest,
    document_of,
    objects,
)

#: Its codes of success, and of a search that ran and found nothing.
OK, NO_RESULTS = 20_000, 40_102
#: Its codes as HTTP statuses, where these are not their first three digits (docs.dataforseo.com,
#: v3/appendix/errors): it always answers 200.
STATUSES: Mapping[int, int] = {
    NO_RESULTS: 200,
    40_101: 502,  # Google failed
    40_103: 503,  # the task failed, and may be set again
    40_104: 403,  # the account is not verified
    40_201: 403,  # the account is paused
    40_202: 429,  # too many in a minute
    40_207: 403,  # our address is not on the account's list
    40_209: 429,  # too many at once
}
#: Codes of a wrong field are 405xx.
WRONG_FIELD = 405
#: Its limits name no time; they are of a minute.
WAIT_SECONDS = "60"
#: English results for the United States, as Google gives them to a stranger.
PLACE: Mapping[str, object] = {"location_code": 2840, "language_code": "en"}
#: Rows of a first page, which one price buys.
DEPTH = 10


class DataForSeo(ApiProvider):
    """DataForSEO: Google's organic results, live, with login:password as the key."""

    name = "dataforseo"
    page = "https://www.google.com/search"
    address = "url"
    max_query = 700
    #: Kinds of entries whose page is in Google's results; the others are ads, questions, maps.
    organic: ClassVar = frozenset(("organic", "featured_snippet"))

    def readiness(self) -> str | None:
        if (needs := super().readiness()) is not None:
            return f"{needs} (login:password)" if not self.key else needs
        return None if ":" in self.key else "PRESSROOM_SEARCH__DATAFORSEO__API_KEY has to be login:password"

    def is_askable(self, query: str) -> bool:
        return len(_escaped(query)) <= self.max_query

    def request(self, query: str) -> SearchRequest:
        login = base64.b64encode(self.key.encode()).decode()
        # Ungrouped: else a second row of the same site is inside the first.
        task = {"keyword": _escaped(query), **PLACE, "depth": DEPTH, "group_organic_results": False}
        return SearchRequest(self.url, "POST", json=[task], headers={"Authorization": f"Basic {login}"})

    def meaning(self, reply: Reply) -> Reply:
        document = document_of(reply) if reply.is_success else None
        code = _code(document) if document else None
        if code is None or code == OK:
            return reply
        status = STATUSES.get(code, code // 100)
        headers = {"retry-after": WAIT_SECONDS, **reply.headers} if status == 429 else reply.headers
        return replace(reply, status=400 if status == WRONG_FIELD else status, headers=headers)

    def rows(self, document: dict[str, Any]) -> list[dict[str, Any]]:
        items = [item for result in _results(document) for item in objects(result.get("items"))]
        return [item for item in items if item.get("type") in self.organic]

    def is_valid(self, document: dict[str, Any]) -> bool:
        code, results = _code(document), _results(document)
        return code == NO_RESULTS or (code == OK and bool(results) and all("items" in result for result in results))


def _results(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [result for task in objects(document.get("tasks")) for result in objects(task.get("result"))]


def _code(document: dict[str, Any]) -> int | None:
    code = document.get("status_code")
    tasks = objects(document.get("tasks"))
    if code == OK and tasks:
        code = tasks[0].get("status_code")
    return code if isinstance(code, int) else None


def _escaped(query: str) -> str:
    """Return a query as it is sent: the API decodes %XX and the plus sign as a form does."""
    return query.replace("%", "%25").replace("+", "%2B")
