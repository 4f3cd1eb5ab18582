"""Which URLs may be checked, and when two of them are the same page."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.downloads.urls import PLAIN, UNFIT, fault_of, host_key, listed_form, match_key

#: The last is whether they match.
TABLE = [
    ("http://e.com/p", "https://www.e.com/p/", True),
    ("https://e.com/P", "https://e.com/p", False),
    ("http://e.com:8080/a", "http://e.com/a", False),
    ("http://e.com:80/a", "https://e.com:443/a", True),
    ("http://e.com/a?utm_source=x&gclid=1&id=7", "http://e.com/a?id=7", True),
    ("http://e.com/a?id=7", "http://e.com/a?id=7&srsltid=A", True),
    ("http://e.com/a?id=7", "http://e.com/a", False),
    ("http://e.com/a", "http://e.com/a?page=2", False),
    ("http://e.com/a?b=2&a=1", "http://e.com/a?a=1&b=2", True),
    ("http://e.com/caf%C3%A9", "http://e.com/café", True),
    ("http://e.com/%7Eu/a%2fb", "http://e.com/~u/a%2Fb", True),
    ("http://e.com/a%2Fb", "http://e.com/a/b", False),
    ("http://марр.рф/x", "http://xn--80axna.xn--p1ai/x", True),
    ("http://e.com/a", "http://m.e.com/a", False),
    ("http://e.com/a", "http://e.com/a/amp", False),
    ("http://e.com/a", "https://e-com.cdn.ampproject.org/c/s/e.com/a", False),
    ("http://e.com/", "http://e.com/blog/p", False),
    ("http://e.com", "http://e.com/", True),
    ("http://e.com/blog", "http://e.com/blog-archive", False),
    ("http://e.com/a", "http://blog.e.com/a", False),
    ("http://e.com/a", "http://e.com.evil.net/a", False),
    ("http://e.com/a", "http://o.net/?u=https://e.com/a", False),
    ("http://e.com./a//b/../c#top", "http://E.com/a/c", True),
    ("http://e.com/#!/page", "http://e.com/", False),
    ("http://e.com/a;jsessionid=1F?x=1", "http://e.com/a?x=1", True),
    ("http://e.com/%", "http://e.com/%25", False),
]


@pytest.mark.parametrize(("submitted", "result", "is_match"), TABLE)
def test_the_match_table(submitted: str, result: str, is_match: bool) -> None:
    assert (match_key(submitted) == match_key(result)) is is_match


@pytest.mark.parametrize(
    "url",
    [
        "https://e.com",
        "http://e.com:8080/a?b#c",
        "https://пример.рф/путь?ключ=да",
        "http://[2001:db8::1]/x",
        "https://a_b.e.com/" + "x" * 2_000,
    ],
)
def test_urls_that_may_be_checked(url: str) -> None:
    assert fault_of(url) is None
    assert match_key(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "e.com/a",
        "ftp://e.com/a",
        "javascript:alert(1)",
        "https://",
        "https:///a",
        "https://user:secret@e.com/",
        "https://e.com/a b",
        "https://e.com/a\tb",
        "https://e.com/a\u00a0b",
        "https://e.com/\x7f",
        "https://e.com\\@evil.net/",
        "https://e.com:99999/",
        "https://e.com:port/",
        "https://-e.com/",
        "https://e..com/",
        f"https://{'x' * 300}.com/",
        f"https://{'ö' * 300}.com/",
        "https://[::1/",
        "https://e.com/" + "x" * 2_048,
        "https://e.com/\u202etxt",
        "https://e.com/\ud800",
    ],
)
def test_urls_that_can_not_be_checked(url: str) -> None:
    assert fault_of(url)


SEGMENTS = st.lists(st.text("abcXYZ019-_~é", min_size=1, max_size=8), max_size=4)
QUERIES = st.lists(st.tuples(st.text("abc", min_size=1), st.text("xyzé09")), max_size=4)
HOSTS = st.sampled_from(["e.com", "shop.example.org", "пример.рф", "xn--80axna.xn--p1ai"])


@st.composite
def urls(draw: st.DrawFn) -> tuple[str, list[str], list[tuple[str, str]]]:
    return draw(HOSTS), draw(SEGMENTS), draw(QUERIES)


def written(host: str, segments: list[str], query: list[tuple[str, str]], scheme: str = "https") -> str:
    asked = "&".join(f"{name}={value}" for name, value in query)
    return f"{scheme}://{host}/{'/'.join(segments)}" + (f"?{asked}" if asked else "")


@given(urls(), st.data())
def test_a_url_is_itself_under_every_allowed_change(url, data: st.DataObject) -> None:
    host, segments, query = url
    tracking = data.draw(st.sampled_from([[], [("utm_source", "x")], [("gclid", "1"), ("mc_eid", "2")]]))
    shuffled = data.draw(st.permutations([*query, *tracking]))
    doubled = [
        part for segment in segments for part in data.draw(st.sampled_from([[segment], ["", segment], [".", segment]]))
    ]
    changed = written(
        data.draw(st.sampled_from([host, host.upper(), f"www.{host}", f"{host}."])),
        doubled,
        shuffled,
        data.draw(st.sampled_from(["http", "https"])),
    )
    fragment = data.draw(st.sampled_from(["", "#top"]))

    assert fault_of(changed + fragment) is None
    assert match_key(changed + fragment) == match_key(written(host, segments, query))
    assert match_key(listed_form(changed + fragment)) == match_key(changed)
    assert "utm_" not in listed_form(changed + fragment)


@given(urls(), st.data())
def test_a_url_is_another_under_every_forbidden_change(url, data: st.DataObject) -> None:
    host, segments, query = url
    here = written(host, segments, query)
    others = [
        written(f"m.{host}", segments, query),
        written(f"{host}:8080", segments, query),
        written(host, [*segments, "deeper"], query),
        written(host, segments, [*query, ("page", "2")]),
        written(host, [*segments[:-1], f"{segments[-1] if segments else ''}q"], query),
        here + "#!state",
    ]

    assert match_key(data.draw(st.sampled_from(others))) != match_key(here)


@given(st.text(max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    fault_of(text)
    match_key(text)
    if fault_of(f"https://{text}") is None:
        assert match_key(f"https://{text}") == match_key(listed_form(f"https://{text}"))


@pytest.mark.parametrize(
    ("url", "listed"),
    [
        ("https://www.e.com/A/b/", "https://www.e.com/A/b/"),
        ("https://e.com/a?utm_source=x&id=7&gclid=1#top", "https://e.com/a?id=7"),
        ("https://e.com/a;jsessionid=1F2E?b=2&a=1", "https://e.com/a?b=2&a=1"),
        ("https://e.com/?fbclid=1", "https://e.com/"),
        ("https://e.com/#!/page", "https://e.com/#!/page"),
        ("HTTPS://WWW.E.com.:443/A", "https://www.e.com/A"),
        ("http://e.com:80?x=1", "http://e.com?x=1"),
        ("http://e.com:/a", "http://e.com/a"),
        ("http://e.com:443/a", "http://e.com:443/a"),
        ("https://e.com:8443/a", "https://e.com:8443/a"),
        ("https://марр.рф/x", "https://xn--80axna.xn--p1ai/x"),
        ("https://[2001:DB8::1]:443/", "https://[2001:db8::1]/"),
        ("https://e.com//a/./b/../c/", "https://e.com/a/c/"),
        ("https://e.com/a/.", "https://e.com/a/"),
        ("https://e.com/a/b/..", "https://e.com/a/"),
        ("https://e.com/a/..", "https://e.com/"),
        ("https://e.com/..a/b.", "https://e.com/..a/b."),
        ("https://e.com/web/2020/https://o.net/a", "https://e.com/web/2020/https://o.net/a"),
        ("https://e.com//web//http:////o.net/./a//b/", "https://e.com/web/http://o.net/a/b/"),
        ("https://e.com/web/https:/", "https://e.com/web/https:/"),
        ("https://e.com/web/https://", "https://e.com/web/https://"),
        ("https://e.com/web/https://../a", "https://e.com/web/a"),
        ('https://e.com/a"OR"b|c', "https://e.com/a%22OR%22b%7Cc"),
    ],
)
def test_an_engine_is_asked_without_what_tells_no_page_from_another(url: str, listed: str) -> None:
    assert listed_form(url) == listed


@given(
    st.sampled_from(["http://", "https://"]),
    st.text("ab.-_:/?#@[]%\\ A1\n", max_size=20),
    st.sampled_from(["", ":", ":0", ":08", ":80", ":8443", ":59999", ":60000", ":65536", ":99999", ":80:90"]),
    st.sampled_from(["", "/", "/a?b", "#c"]),
)
def test_what_looks_plain_bears_a_closer_look(scheme: str, text: str, port: str, rest: str) -> None:
    url = scheme + text + port + rest
    if PLAIN.fullmatch(url):
        parts = urlsplit(url)
        assert parts.port != 0  # and reading it raises nothing
        assert (parts.username, parts.password) == (None, None)
        assert parts.hostname is not None
        assert host_key(parts.hostname)
        assert not UNFIT.search(url)
