"""Connected sites: the properties that a URL belongs to, and its lane."""

from typing import Any
from uuid import uuid4

import pytest

from capabilities.index_check.kinds.index_check import IndexCheck
from capabilities.index_check.requests.request import IndexCheckRequest, with_lanes
from capabilities.index_check.results.jobs import OWNED_LANE
from capabilities.index_check.sites.connections import SEARCH_CONSOLE, OwnedSite, SiteMap
from pipeline.kind import as_rows


def sites(*properties: str) -> list[OwnedSite]:
    return [OwnedSite(SEARCH_CONSOLE, one, uuid4()) for one in properties]


@pytest.mark.parametrize(
    ("connected", "url", "found"),
    [
        ("sc-domain:e.example", "https://e.example/a", True),
        ("sc-domain:e.example", "http://deep.blog.e.example:8080/a", True),
        ("sc-domain:e.example", "https://e.example.evil.example/", False),
        ("sc-domain:e.example", "https://note.example/", False),
        ("sc-domain:blog.e.example", "https://e.example/", False),
        ("sc-domain:bücher.example", "https://www.xn--bcher-kva.example/", True),
        ("https://e.example/", "https://e.example/a?b=c", True),
        ("https://e.example/", "https://E.EXAMPLE:443/a", True),
        ("https://e.example/", "https://e.example", True),
        ("https://e.example/", "http://e.example/a", False),
        ("https://e.example/", "https://www.e.example/a", False),
        ("https://e.example/", "https://e.example:8443/a", False),
        ("https://e.example/", "https://e.example.evil.example/", False),
        ("https://e.example/blog/", "https://e.example/blog/a", True),
        ("https://e.example/blog/", "https://e.example/blogs", False),
        ("https://e.example/blog/", "https://e.example/?u=https://e.example/blog/", False),
        ("nonsense", "https://e.example/", False),
        ("https://e.example:x/", "https://e.example/", False),
    ],
)
def test_a_url_belongs_to_a_property(connected: str, url: str, found: bool) -> None:
    assert bool(SiteMap(sites(connected)).find(url)) is found


def lanes(urls: list[str], connected: list[OwnedSite], **fields: Any) -> list[str | None]:
    request = IndexCheckRequest(type="check", urls=urls, **fields)
    return [row[2] for row in with_lanes(as_rows(IndexCheck().items(request)), request, connected)]


@pytest.mark.parametrize(
    ("fields", "lane"),
    [({"index": "google"}, OWNED_LANE), ({"index": "bing"}, "index_check_index_bing"),
     ({"engine": "serper"}, "index_check_serper"), ({"engine": "search_console"}, OWNED_LANE)],
)  # fmt: skip
def test_who_names_another_index_or_provider_is_not_asked_of_google(fields: dict[str, str], lane: str) -> None:
    assert lanes(["https://e.example/a"], sites("sc-domain:e.example"), **fields) == [lane]
