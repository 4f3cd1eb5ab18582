"""`pressroom audit`: W3C's alt decision tree as a table, over pages and sitemaps."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from ran import Ran
from web_server import web_server

from capabilities.sites.audit.rules import audit

#: The tree's questions in order (w3.org/WAI/tutorials/images/decision-tree), each with what it decides.
TREE = [
    # Is the picture used in a link or a button, and would it be hard to understand without the picture?
    ('<a href="/x"><img src="a.png" alt=""></a>', ["no_function"]),
    ('<a href="/x"><img src="a.png"></a>', ["no_function"]),
    ('<button><img src="a.png" alt=""></button>', ["no_function"]),
    ('<input type="image" src="go.png">', ["no_function"]),
    ('<map><area href="/north" shape="rect"></map>', ["no_function"]),
    ('<a href="/x"><img src="a.png" alt="Timetable"></a>', []),
    ('<a href="/x" aria-label="Timetable"><img src="a.png" alt=""></a>', []),
    ('<a href="/x"><img src="a.png" alt="">Timetable</a>', []),
    ('<a href="/x"><img src="a.png" alt=""><svg><title>Timetable</title></svg></a>', []),
    ('<a name="x"><img src="a.png" alt=""></a>', []),
    ('<input type="image" src="go.png" alt="Search"><input type="text">', []),
    # Does its text stand beside it already?
    ('<a href="/x"><img src="a.png" alt="timetable"> Timetable</a>', ["repeats_link"]),
    # Does it contribute meaning? Then it is described; what is there must be a description.
    ('<p><img src="a.png"></p>', ["missing"]),
    ('<p><img src="a.png" alt="IMG_2024.jpg"></p>', ["file_name"]),
    ('<p><img src="/u/2024-boat-3.jpg" alt="2024 boat 3"></p>', ["file_name"]),
    ('<p><img src="a.png" alt="Two boats"></p>', []),
    ('<p><img src="a.png" aria-label="Two boats"></p>', []),
    ('<p><img src="http://[site]/a.png"></p>', ["missing"]),
    (f'<p><img src="a.png" alt="{"long " * 60}"></p>', ["too_long"]),
    ('<p><img src="a.png" alt="Boats"><img src="b.png" alt="boats"></p>', ["same_text"]),
    ('<p><img src="a-300x200.png" alt="Boats"><img src="a.png" alt="Boats"></p>', []),
    # Is it only decoration? Then alt is empty, and nothing else describes it.
    ('<p><img src="a.png" alt=""></p>', []),
    ('<p><img src="a.png" role="presentation"></p>', []),
    ('<p><img src="a.png" role="presentation" alt="Boats"></p>', ["contradiction"]),
    ('<p><img src="a.png" aria-hidden="true" alt="Boats"></p>', ["contradiction"]),
    ('<p><img src="a.png" alt="" aria-label="Boats"></p>', ["contradiction"]),
]


@pytest.mark.parametrize(("markup", "faults"), TREE)
def test_the_decision_tree(markup: str, faults: list[str]) -> None:
    found = audit("https://e.example/page/", f"<html><body>{markup}</body></html>")

    assert [one.fault for one in found] == faults


@pytest.mark.parametrize("content", [b"", b"\x00\xff", b"<!-- only a comment -->"])
def test_what_is_no_page_has_no_findings(content: bytes) -> None:
    assert list(audit("https://e.example/", content)) == []


def test_the_pages_of_a_sitemap_are_read_and_written_as_csv_and_page(
    pressroom: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSROOM_FETCH__ALLOW_NETWORKS", "127.0.0.0/8")
    out, page = tmp_path / "found.csv", tmp_path / "found.html"
    with web_server() as site:
        good = site.serve("/good", b'<html><img src="a.png" alt="Boats"></html>', "text/html")
        bad = site.serve("/bad", b'<html><img src="a.png" alt="=1+1 boats"><img src="b.png"></html>', "text/html")
        gone = site.fail("/gone", 404)
        urls = "".join(f"<url><loc>{one}</loc></url>" for one in (good, bad, gone))
        site.serve("/sitemap.xml", f"<urlset>{urls}</urlset>".encode(), "application/xml")

        ran = pressroom("audit", site.url("/sitemap.xml"), "--csv", str(out), "--page", str(page))

    assert ran.code == 1
    assert "1 findings on 3 pages." in ran.err
    assert f"{gone}: It answers with HTTP 404." in ran.err
    assert list(csv.reader(out.read_text().splitlines()))[1][:4] == [bad, site.url("/b.png"), "(none)", "missing"]
    assert "<td>missing</td>" in page.read_text()
