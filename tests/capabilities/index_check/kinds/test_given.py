"""URLs of a request: bare domains are completed, faults are found."""

import pytest

from capabilities.index_check.kinds.index_check import IndexCheck
from capabilities.index_check.requests.given import read_url
from capabilities.index_check.requests.request import IndexCheckRequest

A, B = "https://example.org/a", "https://example.org/b"


@pytest.mark.parametrize(
    ("sent", "url"),
    [
        ("example.org/a", "https://example.org/a"),
        ("example.org", "https://example.org"),
        (" www.example.co.uk?x=1 ", "https://www.example.co.uk?x=1"),
        ("example.org:8443/a#b", "https://example.org:8443/a#b"),
        ("bücher.de/ä", "https://bücher.de/ä"),
        ("user.github.io", "https://user.github.io"),
        ("EXAMPLE.ORG/A", "https://EXAMPLE.ORG/A"),
        ("example.org/a@b:c", "https://example.org/a@b:c"),
    ],
)
def test_a_bare_domain_is_an_https_url(sent: str, url: str) -> None:
    assert read_url(sent) == (url, sent, None)
    assert read_url(url) == (url, None, None)


@pytest.mark.parametrize(
    "sent",
    ["", "example", "index.html", "/a", "//example.org/a", "1.2.3.4/a", "localhost/a", "mailto:a@example.org",
     "a@example.org", "ftp://example.org/", "javascript:alert(1)", "example.org/a b", "ex ample.org", "org", ".org",
     "example..org", "example.org:0", "example.org\\a", "https:/example.org"],
)  # fmt: skip
def test_what_begins_with_no_domain_is_refused_as_it_was_sent(sent: str) -> None:
    given = read_url(sent)

    assert given.fault
    assert (given.url, given.sent) == (sent, None)


def test_what_a_row_can_not_keep_is_told_in_another_way() -> None:
    assert read_url("a\0\ud800\nb").url == "a\\x00\\ud800\\nb"
    assert len(read_url("x" * 3_000).url) == 2_048


def test_what_was_made_of_urls_is_all_that_is_stored() -> None:
    request = IndexCheckRequest(type="check", urls=[A, "example.org/b", "?"], diagnose=True, skip_invalid=True)

    stored = [(item.input.model_dump(exclude_unset=True), item.price) for item in IndexCheck().items(request)]

    assert stored[0] == ({"url": A, "diagnose": True}, 1)
    assert stored[1] == ({"url": B, "sent": "example.org/b", "diagnose": True}, 1)
    assert (stored[2][0].keys(), stored[2][1]) == ({"url", "fault"}, 0)


def test_a_sitemap_may_be_named_without_a_scheme_as_pages_may() -> None:
    named = [IndexCheckRequest(type="check", sitemap_url=sent).sitemap_url for sent in ("example.org/s.xml", "s.xml")]

    assert named == ["https://example.org/s.xml", "s.xml"]
