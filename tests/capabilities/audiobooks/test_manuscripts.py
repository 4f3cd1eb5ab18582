"""Manuscripts: what is read of each form, what is left out, and what is refused."""

import io
import zipfile
from collections.abc import Mapping

import pytest

from capabilities.audiobooks.manuscripts import epub
from capabilities.audiobooks.manuscripts.article import read_article
from capabilities.audiobooks.manuscripts.manuscript import Manuscript, ManuscriptTooLong, ManuscriptUnreadable
from capabilities.audiobooks.manuscripts.reading import (
    MAX_DOCX_BYTES,
    MAX_DOCX_TAGS,
    MAX_MARKS,
    MAX_MARKUP,
    read_manuscript,
)

CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Lamp</dc:title><dc:creator>A. Writer</dc:creator>
<dc:language>en</dc:language></metadata><manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="two" href="two%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="one.xhtml" media-type="application/xhtml+xml"/>
<item id="pic" href="p.png" media-type="image/png"/></manifest>
<spine><itemref idref="nav"/><itemref idref="one"/><itemref idref="pic"/><itemref idref="two"/></spine></package>"""
NAV = """<html xmlns="http://www.w3.org/1999/xhtml"><body><nav><ol><li><a href="one.xhtml">A first night</a></li>
<li><a href="two%20b.xhtml#start">A second night</a></li></ol></nav></body></html>"""
ONE = """<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>
<h1>I</h1><p>It was <em>dark</em>.<a epub:type="noteref" href="#n">1</a>
The lamp<sup><a href="#n">2</a></sup> went out.</p>
<span epub:type="pagebreak">12</span><aside epub:type="footnote" id="n"><p>A note.</p></aside>
<table><tr><td>7</td></tr></table><script>evil()</script></body></html>"""
TWO = "<html xmlns='http://www.w3.org/1999/xhtml'><body><p>Then it was light.</p></body></html>"


def book(**more: str | None) -> bytes:
    files: Mapping[str, str | None] = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": PACKAGE,
        "OEBPS/nav.xhtml": NAV,
        "OEBPS/one.xhtml": ONE,
        "OEBPS/two b.xhtml": TWO,
        **more,
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            if text is not None:
                archive.writestr(name, text)
    return packed.getvalue()


def word(**files: str | bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {"word/document.xml": "<a/>", **files}.items():
            archive.writestr(name, text)
    return packed.getvalue()


def damaged(method: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
    data = packed.getvalue()
    return data[:65] + bytes(20) + data[85:]


def read(data: bytes | str, name: str = "book") -> Manuscript:
    return read_manuscript(io.BytesIO(data.encode() if isinstance(data, str) else data), name)


def test_an_epub_is_read_in_its_order_without_notes_and_tables() -> None:
    found = read(book())
    assert (found.title, found.author, found.language) == ("The Lamp", "A. Writer", "en")
    assert [(chapter.title, chapter.paragraphs) for chapter in found.chapters] == [
        ("A first night", ["I", "It was dark. The lamp went out."]),
        ("A second night", ["Then it was light."]),
    ]
    assert found.left_out == {"footnotes": 1, "tables": 1}


def test_notes_of_word_are_left_out() -> None:
    found = read('<html><p>Text.</p><ol><li id="footnote-1"><p>A note.</p></li></ol></html>', "a.html")
    assert (found.chapters[0].paragraphs, found.left_out) == (["Text."], {"footnotes": 1})


def test_a_language_that_is_no_tag_is_dropped() -> None:
    found = read(book(**{"OEBPS/book.opf": PACKAGE.replace(">en<", ">English<")}))
    assert found.language == ""
    assert found.chapters[0].paragraphs[0] == "I"


def test_a_file_that_a_spine_lists_for_each_of_its_sections_is_read_once() -> None:
    twice = PACKAGE.replace(
        "</manifest>", '<item id="three" href="one.xhtml#b" media-type="application/xhtml+xml"/></manifest>'
    )
    twice = twice.replace("</spine>", '<itemref idref="three"/></spine>')
    assert len(read(book(**{"OEBPS/book.opf": twice})).chapters) == 2


def test_what_is_asked_for_is_read_as_well() -> None:
    page = """<html lang="en"><p>Text.</p><table><tr><th>Year</th><td>1815</td></tr></table>
    <img alt="A cat" src="c.png"><pre>x = 1</pre><aside role="doc-footnote"><p>A note.</p></aside>
    <span role="doc-pagebreak" title="12"></span>"""
    found = read_manuscript(
        io.BytesIO(page.encode()), "a.html", frozenset({"tables", "code", "footnotes", "pictures", "page_numbers"})
    )
    assert found.chapters[0].paragraphs == ["Text.", "Year, 1815", "Picture: A cat.", "x = 1", "A note.", "Page 12."]
    assert found.left_out == {}
    assert read(page, "a.html").chapters[0].paragraphs == ["Text."]


def test_paragraphs_in_another_language_and_voices_are_tagged_and_scenes_are_parted() -> None:
    page = """<html lang="en"><p>She said:</p><p lang="fr">Bonjour.</p>
    <p lang="en-GB"><voice name="Emma">Hello.</voice></p>
    <hr><p>* * *</p><voice name="Emma"><p>One.</p><p>Two.</p></voice><p><voice>Later.</voice></p>"""
    assert read(page, "a.html").chapters[0].paragraphs == [
        "She said:",
        '<lang xml:lang="fr">Bonjour.</lang>',
        '<voice name="Emma">Hello.</voice>',
        "[pause 2s]",
        "[pause 2s]",
        '<voice name="Emma">One.</voice>',
        '<voice name="Emma">Two.</voice>',
        "Later.",
    ]


def test_the_cover_of_an_epub_is_found() -> None:
    named = PACKAGE.replace('id="pic"', 'id="pic" properties="cover-image"')
    assert read(book(**{"OEBPS/book.opf": named, "OEBPS/p.png": "a picture"})).cover == b"a picture"
    assert read(book(**{"OEBPS/book.opf": named})).cover is None


def test_the_article_of_a_page_is_read_without_its_menus() -> None:
    page = """<html lang="en"><head><title>A Fine Day | The Gazette</title>
    <meta property="og:title" content="A Fine Day"><meta name="author" content="Jo Doe"></head>
    <body><nav><a href="/">Home</a> <a href="/b">About us</a></nav><article>
    <p>It was a fine day in the village, and everybody went out to see the sun, which had been away for weeks.</p>
    <h2>The lake</h2><p>Two herons stood in it without moving for an hour, as if they had been carved out of wood.</p>
    </article><footer>Copyright and cookies</footer></body></html>"""
    found = read_article(page.encode(), "https://example.org/day", frozenset())
    assert (found.title, found.author) == ("A Fine Day", "Jo Doe")
    text = " ".join(chapter.text for chapter in found.chapters)
    assert "herons stood" in text
    assert not any(word in text for word in ("About us", "cookies"))


def test_a_page_with_too_many_tags_is_refused() -> None:
    with pytest.raises(ManuscriptUnreadable, match="The page has 100,001 tags"):
        read_article(b"<p>" * 100_001, "https://example.org/", frozenset())


def test_html_and_markdown_have_a_chapter_for_each_heading() -> None:
    markdown = "---\ndraft: true\n---\n# A book\n\n## One\n\nText *here*.\n\n```\ncode\n```\n\n## Two\n\nMore.\n"
    page = "<!doctype html><h1>A book</h1><h2>One</h2><p>Text here.</p><pre>code</pre><h2>Two</h2>More."
    for source, name in ((markdown, "a.markdown"), (page, "a.html")):
        found = read(source, name)
        assert found.title == "A book"
        assert [(chapter.title, chapter.paragraphs) for chapter in found.chapters[1:]] == [
            ("One", ["One", "Text here."]),
            ("Two", ["Two", "More."]),
        ]
        assert found.left_out == {"code": 1}


def test_plain_text_has_chapters_where_lines_say_so_and_no_licence() -> None:
    found = read(
        "A licence.\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\nEMMA\n\nby Jane Austen\n\nCHAPTER I\n\nCHAPTER II"
        "\n\nCHAPTER I\n\nEmma was\nhandsome.\n\nChapter one hundred was far.\n\nCHAPTER II\n\nMr. Weston came.\n"
        "*** END OF THE PROJECT GUTENBERG EBOOK X ***\nMore licence."
    )
    assert (found.title, found.author) == ("EMMA", "Jane Austen")
    assert [(chapter.title, len(chapter.paragraphs)) for chapter in found.chapters] == [
        ("", 2),
        ("CHAPTER I", 3),
        ("CHAPTER II", 2),
    ]
    assert found.chapters[1].paragraphs[1] == "Emma was handsome."


def test_a_word_document_is_read() -> None:
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in (("Heading1", "One"), ("Normal", "It began."), ("Heading1", "Two"), ("Normal", "It ended."))
    )
    office = "http://schemas.openxmlformats.org"
    space = f"{office}/wordprocessingml/2006/main"
    target = f'Target="word/document.xml" Type="{office}/officeDocument/2006/relationships/officeDocument"'
    related = (
        f'<Relationships xmlns="{office}/package/2006/relationships"><Relationship Id="1" {target}/></Relationships>'
    )
    styles = '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>'
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>')
        archive.writestr("word/styles.xml", f'<w:styles xmlns:w="{space}">{styles}</w:styles>')
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{office}/package/2006/content-types"/>')
        archive.writestr("_rels/.rels", related)
    found = read(packed.getvalue()).chapters
    assert [chapter.paragraphs for chapter in found] == [["One", "It began."], ["Two", "It ended."]]


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><container>&b;</container>'
DRM = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData
xmlns="http://www.w3.org/2001/04/xmlenc#"><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
</EncryptedData></encryption>"""


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"%PDF-1.7", "PDF"),
        (b"\xd0\xcf\x11\xe0old", "Save it as DOCX"),
        (b"PK\x03\x04 broken", "broken archive"),
        (b"\0\1\2binary", "not text"),
        ("cut off".encode("utf-16")[:-1], "not text"),
        (b"\xff\xfea\0\0\0", "not text"),
        (book(é="x").replace("é".encode(), b"\xff\xff"), "broken archive"),
        (damaged(zipfile.ZIP_LZMA), "can't be unpacked"),
        (b"", "no text"),
        ("<html>" + "<div>" * 5_000 + "Deep.", "HTML in the manuscript can't be read to its end"),
        ("<html>" + "<p>a" * 400_001, "400,002 tags"),
        ("<html><img src='page1.png'><img src='page2.png'></html>", "scanned"),
        (book(**{"META-INF/encryption.xml": DRM}), "protected"),
        (book(**{"META-INF/container.xml": ENTITIES}), "not valid XML"),
        (book(**{"OEBPS/book.opf": '<?xml version="1.0" encoding="foo"?><package/>'}), "not valid XML"),
        (book(**{"OEBPS/one.xhtml": None}), "lacks its file 'OEBPS/one.xhtml'"),
        (book(**{"OEBPS/one.xhtml": "<p>" + "a" * (epub.MAX_DOCUMENT + 1)}), "more than 8 MB"),
        ("# A\n\n" + "a" * MAX_MARKUP, "4,194,304 characters"),
        ("# A\n\n" + "*a* " * MAX_MARKS, "400,003 line ends and signs"),
        (word(**{"word/styles.xml": "<a>" + "<w:p/>" * MAX_DOCX_TAGS + "</a>"}), "limit is 250,000. Send it in parts"),
        (word(**{"word/styles.xml": f"<!--{'-x' * 4_096}--><!DOCTYPE a><a/>"}), "declares entities"),
        (word(**{"word/notes.xml": "<!DOCTYPE a><a/>".encode("utf-16")}), "declares entities"),
        (word(**{"word/comments.xml": "<a>" + " " * MAX_DOCX_BYTES + "</a>"}), "more than 24 MB"),
    ],
    ids=[
        "pdf",
        "doc",
        "cut",
        "binary",
        "utf16-cut",
        "utf16-nul",
        "name",
        "lzma",
        "empty",
        "nested",
        "tags",
        "scanned",
        "drm",
        "entities",
        "encoding",
        "lacking",
        "bomb",
        "markup",
        "marks",
        "docx-tags",
        "docx-style",
        "docx-utf16",
        "docx-bomb",
    ],
)
def test_what_is_no_manuscript_is_refused_with_the_reason(data: bytes | str, reason: str) -> None:
    with pytest.raises(ManuscriptUnreadable, match=reason):
        read(data)


def test_obfuscated_fonts_are_no_protection() -> None:
    fonts = DRM.replace("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "http://www.idpf.org/2008/embedding")
    assert len(read(book(**{"META-INF/encryption.xml": fonts})).chapters) == 2


def test_a_book_that_is_too_long_is_refused() -> None:
    with pytest.raises(ManuscriptTooLong, match="2,000,000"):
        read("word " * 400_001)
