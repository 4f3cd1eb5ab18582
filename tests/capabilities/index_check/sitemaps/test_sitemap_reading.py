"""Sitemaps over real HTTP: what is read of them, and what is refused with a reason."""

import gzip
import zlib
from collections.abc import Iterator

import pytest
from web_server import Answer, WebServer, reply, web_server

from capabilities.index_check.sitemaps.parsing import NoSitemap, SitemapParser, TooManyBytes
from capabilities.index_check.sitemaps.reading import SitemapFailure, list_pages
from pipeline.settings import Settings

XMLNS = "http://www.sitemaps.org/schemas/sitemap/0.9"
A, B, C = "https://e.example/a", "https://e.example/b?x=1&y=2", "https://e.example/ç"
BOMB = (
    '<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {next_} "{f"&{name};" * 10}">' for name, next_ in zip("abcdefgh", "bcdefghi", strict=True))
    + "]><urlset><url><loc>&i;</loc></url></urlset>"
)
OUTSIDE = (
    '<!DOCTYPE urlset [<!ENTITY a SYSTEM "file:///etc/hostname">]><urlset><url><loc>https://&a;</loc></url></urlset>'
)


def compressed(data: bytes) -> bytes:
    """Return data as gzip has it, without the second in its header: names of tests are made of it."""
    return gzip.compress(data, mtime=0)


@pytest.fixture(scope="module")
def site() -> Iterator[WebServer]:
    with web_server() as server:
        yield server


def urlset(*pages: str) -> bytes:
    escaped = (page.replace("&", "&amp;") for page in pages)
    entries = "".join(f"<url><loc> {page}\n</loc><lastmod>2026-11-22</lastmod></url>" for page in escaped)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{XMLNS}">{entries}</urlset>'.encode()


def index(*sitemaps: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{sitemap}</loc></sitemap>" for sitemap in sitemaps)
    return f'<sitemapindex xmlns="{XMLNS}">{entries}</sitemapindex>'.encode()


def read(url: str, *, max_pages: int = 100, allow: str = "127.0.0.0/8", **limits: float) -> list[str]:
    fetch = {"allow_networks": allow, "stall_seconds": 2}
    return list_pages(url, Settings(fetch=fetch, search={"sitemap": limits}), max_pages=max_pages)


def refusal(url: str, **limits: float) -> SitemapFailure:
    with pytest.raises(SitemapFailure) as caught:
        read(url, **limits)  # type: ignore[arg-type]
    return caught.value


@pytest.mark.parametrize(
    ("body", "pages"),
    [
        (urlset(A, B, C), [A, B, C]),
        (urlset(A, B, A), [A, B]),
        (compressed(urlset(A, B)), [A, B]),
        (compressed(urlset(A, B)[:90]) + compressed(urlset(A, B)[90:]) + b"\0\0", [A, B]),
        (b"\xef\xbb\xbf" + urlset(A), [A]),
        (b"\n\n  " + urlset(A), [A]),
        (urlset(A).decode().replace("UTF-8", "UTF-16").encode("utf-16"), [A]),
        (f"{A}\r\n\n{B}\n{C}".encode(), [A, B, C]),
        (b"\xef\xbb\xbf" + f"{A}\n".encode(), [A]),
        (compressed(f"{A}\n{B}".encode()), [A, B]),
        (
            f'<urlset xmlns="{XMLNS}" xmlns:image="i"><url><image:image><image:loc>https://e.example/p.png</image:loc>'
            f"</image:image><loc>{A}</loc></url></urlset>".encode(),
            [A],
        ),
        (f"<urlset><url><loc><![CDATA[{B}]]></loc></url><url><loc/></url></urlset>".encode(), [B]),
        (
            f'<rss xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>https://e.example/</link><item><title>t</title>'
            f'<link>{A}</link><atom:link rel="self" href="{C}"/></item></channel></rss>'.encode(),
            [A],
        ),
        (
            f'<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://e.example/"/><entry><link href="{A}"/>'
            f'<link rel="enclosure" href="{C}"/><link rel="alternate" href="b"/></entry></feed>'.encode(),
            [A, "/b"],
        ),
        (b"<!DOCTYPE urlset>" + urlset(A).partition(b"\n")[2], [A]),
    ],
)
def test_every_form_of_a_sitemap_is_read(site: WebServer, body: bytes, pages: list[str]) -> None:
    url = site.serve("/sitemap", body, "application/octet-stream")

    assert read(url) == [site.url(page) if page.startswith("/") else page for page in pages]


def test_an_index_is_read_with_all_that_it_names_in_order_and_each_page_once(site: WebServer) -> None:
    last = site.serve("/last.xml", urlset(C, A))
    first = site.serve("/first.xml.gz", compressed(urlset(A, B)), delay=0.05)
    inner = site.serve("/inner.xml", index("/last.xml", site.url("/index.xml")))
    site.serve("/index.xml", index(first, inner, last))
    site.redirect("/moved", "/index.xml")
    site.forget()

    assert read(site.url("/moved")) == [A, B, C]
    assert site.asked.count("/last.xml") == 1


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        (b"", "sitemap_invalid", "it is empty"),
        (b"<html><body>Not here", "sitemap_invalid", "it is a web page"),
        (b"<!DOCTYPE html><html><head>", "sitemap_invalid", "it is a web page"),
        (b"<opml></opml>", "sitemap_invalid", "it begins with <opml>"),
        (b"<urlset><url>", "sitemap_invalid", "not well-formed XML"),
        (b"<urlset><url></urlset>", "sitemap_invalid", "not well-formed XML (mismatched tag: line 1"),
        (urlset(), "sitemap_invalid", "lists no page"),
        (b'<?xml version="1.0" encoding="x-none"?><urlset/>', "sitemap_invalid", "it is"),
        (b"GIF89a", "sitemap_invalid", "neither XML nor a list of URLs"),
        (b"https://e.example/" + b"a" * 10_000, "sitemap_invalid", "neither XML nor a list of URLs"),
        (b"<urlset>" + b"<url>" * 40, "sitemap_invalid", "more than 32 deep"),
        (BOMB.encode(), "sitemap_invalid", "entities of its own"),
        (OUTSIDE.encode(), "sitemap_invalid", "entities of its own"),
        (compressed(urlset(A))[:-20], "sitemap_invalid", "ends too early"),
        (b"\x1f\x8b\x08\x00damaged, as it seems", "sitemap_invalid", "damaged"),
        (compressed(b"<urlset>" + bytes(3_000_000)), "sitemap_invalid", "not well-formed XML"),
        (compressed(b"<urlset>" + b" " * 3_000_000), "sitemap_too_large", "more than the 2,000,000 bytes"),
        (urlset(*(f"https://e.example/{number}" for number in range(101))), "sitemap_too_large", "more than 100 pages"),
        (index(*(f"/{number}" for number in range(5))), "sitemap_too_large", "more than 5 files"),
    ],
)
def test_what_is_no_sitemap_or_too_large_is_refused_with_a_reason(
    site: WebServer, body: bytes, code: str, words: str
) -> None:
    for number in range(5):
        site.serve(f"/{number}", urlset(f"https://e.example/{number}"))

    error = refusal(site.serve("/sitemap", body), files=5, file_bytes=2_000_000)

    assert (error.code, error.status) == (code, 400)
    assert words in error.message


def test_indexes_within_indexes_end_somewhere(site: WebServer) -> None:
    for level in range(6):
        site.serve(f"/level{level}", index(f"/level{level + 1}"))

    assert refusal(site.url("/level0")).code == "sitemap_too_large"


def test_a_sitemap_that_does_not_come_is_told_with_its_place(site: WebServer) -> None:
    site.fail("/gone", 404)
    site.say("/reset", Answer(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n<urlset>", then="reset"))
    site.say("/slow", Answer(reply(200, urlset(A)), delay=60))
    cases = {
        site.url("/gone"): ("sitemap_unreachable", "HTTP 404"),
        site.serve("/index", index("/gone")): ("sitemap_unreachable", "/gone answers with HTTP 404"),
        site.url("/reset"): ("sitemap_unreachable", "ended the connection"),
        site.redirect("/circle", "/circle"): ("sitemap_unreachable", "in a circle"),
        site.redirect("/inside", "http://10.0.0.1/"): ("sitemap_blocked", "not a public one"),
        "http://10.0.0.1/": ("sitemap_blocked", "not a public one"),
        "ftp://e.example/sitemap.xml": ("sitemap_url_invalid", "http://"),
        "http://nowhere.invalid/": ("sitemap_unreachable", "no such name"),
        "http://127.0.0.1:1/": ("sitemap_unreachable", "it was refused"),
    }
    for url, (code, words) in cases.items():
        error = refusal(url)
        assert (error.code, words in error.message) == (code, True), error.message
    assert "took longer than 0.1 s" in refusal(site.url("/slow"), seconds=0.1).message


def test_a_sitemap_may_come_in_any_pieces() -> None:
    body = urlset(A, B, C)
    for data in (body, compressed(body), f"{A}\n{B}\r\n{C}".encode()):
        for size in (1, 2, 3, 7, 100):
            pages: list[str] = []
            parser = SitemapParser(pages.append, pages.append, max_bytes=10_000)
            for start in range(0, len(data), size):
                parser.feed(data[start : start + size])
            parser.close()
            assert pages == [A, B, C], size


def test_a_bomb_of_gzip_is_unpacked_no_further_than_it_may() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = packer.compress(b"<urlset>" + b" " * 50_000_000) + packer.flush()
    parser = SitemapParser(list[str]().append, list[str]().append, max_bytes=1_000_000)

    with pytest.raises(TooManyBytes):
        parser.feed(bomb)
    assert parser._left > -100_000


def test_a_list_of_lines_with_what_is_no_url_names_it() -> None:
    parser = SitemapParser(list[str]().append, list[str]().append, max_bytes=1_000)

    with pytest.raises(NoSitemap, match="'name,address' is none"):
        parser.feed(f"{A}\nname,address\n".encode())


@pytest.mark.parametrize(
    ("begins", "repeated", "why"),
    [
        (b"<urlset><!--", b"a", "a tag or a comment of more than 1,048,576 bytes"),
        (b"<urlset><", b"a", "a tag or a comment of more than 1,048,576 bytes"),
        (b'<urlset a="', b"a", "a tag or a comment of more than 1,048,576 bytes"),
        (b"<urlset ", b'a="1" ', "a tag or a comment of more than 1,048,576 bytes"),
        (b"<!DOCTYPE urlset [", b"<!ELEMENT a ANY>", "a tag or a comment of more than 1,048,576 bytes"),
        (b"<urlset>", b"<a/>", "more than 2,000,000 elements"),
    ],
)
def test_what_costs_much_time_for_few_bytes_is_read_no_further(begins: bytes, repeated: bytes, why: str) -> None:
    parser = SitemapParser(list[str]().append, list[str]().append, max_bytes=50_000_000)

    with pytest.raises(NoSitemap, match=why):
        parser.feed(compressed(begins + repeated * (9_000_000 // len(repeated))))


def test_long_texts_and_many_comments_are_no_tags_without_an_end() -> None:
    pages: list[str] = []
    parser = SitemapParser(pages.append, pages.append, max_bytes=50_000_000)
    about = b"<url><loc>https://e.example/a</loc><about>" + b"word " * 500_000 + b"</about></url>"

    parser.feed(
        compressed(b"<urlset>" + b"<!-- made by a tool -->" * 100_000 + about + b"<?x y?>" * 200_000 + b"</urlset>")
    )
    parser.close()

    assert pages == [A]
