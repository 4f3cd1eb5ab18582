"""Reading: a manuscript of any form, told by its first bytes and its name."""

import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import IO
from xml.sax import ContentHandler, SAXException

from defusedxml import DTDForbidden
from defusedxml.sax import parseString

from capabilities.audiobooks.kinds.cast import plain
from capabilities.audiobooks.manuscripts.blocks import SCENE_BREAK, Block, BlockReader, check_tags
from capabilities.audiobooks.manuscripts.epub import Archive, read_epub
from capabilities.audiobooks.manuscripts.manuscript import Chapter, Manuscript, ManuscriptUnreadable

#: How a line of plain text begins that is a heading, in English, French, Spanish, Italian, Portuguese and German.
HEADING = re.compile(
    r"^(?:(?:chapter|chapitre|cap[íi]tulo|capitolo|kapitel|book|part|partie|parte|teil|canto|act|scene|letter)"
    r"\s+(?:(?:[ivxlcdm]+|\d+|the \w+)\b.{0,80}|[a-z]+(?:[.:—–-].{0,80})?)"
    r"|[ivxlcdm]+\.?|prologue|epilogue|preface|introduction|foreword|conclusion|pr[óo]logo|epílogo|vorwort|nachwort)$",
    re.IGNORECASE,
)
#: Project Gutenberg's licence is not part of a book.
GUTENBERG_START = re.compile(r"^\*\*\* ?START OF TH(?:E|IS) PROJECT GUTENBERG.*$", re.MULTILINE)
GUTENBERG_END = re.compile(r"^\*\*\* ?END OF TH(?:E|IS) PROJECT GUTENBERG.*$", re.MULTILINE)
PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")
#: Characters of a line of a title page.
MAX_TITLE_PAGE = 80
MAX_TEXT_BYTES, MAX_DOCX_BYTES = 16 * 2**20, 24 * 2**20
#: Characters of HTML and Markdown, whose elements take a hundred times their size.
MAX_MARKUP = 4 * 2**20
#: Tags of a Word document, which mammoth makes objects of, and line ends and signs of Markdown, which become tokens:
#: 160 to 250 MB of memory.
MAX_DOCX_TAGS, MAX_MARKS = 250_000, 200_000
MARKS = "\n*_[]<>`#-+|!&"
MARKDOWN_NAMES = (".md", ".markdown")


def read_manuscript(file: IO[bytes], name: str, reads: frozenset[str] = frozenset()) -> Manuscript:
    """Return the manuscript in a file, with what `reads` adds, such as tables.

    Raises ManuscriptUnreadable, ManuscriptTooLong."""
    head = file.read(4_096)
    file.seek(0)
    if head.startswith(b"PK\x03\x04"):
        archive = Archive(file)
        if archive.has("META-INF/container.xml"):
            return read_epub(file, reads)
        if archive.has("word/document.xml"):
            return _read_docx(_xml_of(archive), reads)
        raise ManuscriptUnreadable("The archive is neither an EPUB nor a Word document (DOCX).")
    if head.startswith(b"%PDF"):
        raise ManuscriptUnreadable("PDF says where letters stand, not what is a paragraph. Send EPUB, DOCX or text.")
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        raise ManuscriptUnreadable("This is an old Word document. Save it as DOCX.")
    text = _decoded(file.read(MAX_TEXT_BYTES + 1))
    is_html = re.match(r"\s*(?:<\?xml|<!doctype html|<html)", text, re.IGNORECASE)
    is_markdown = name.lower().endswith(MARKDOWN_NAMES) or re.search(r"^#{1,2} \S", text, re.MULTILINE)
    if (is_html or is_markdown) and len(text) > MAX_MARKUP:
        raise ManuscriptUnreadable(f"The file has more than {MAX_MARKUP:,} characters. Send it in parts.")
    if is_html:
        return from_html(text, reads)
    if is_markdown:
        if (marks := sum(map(text.count, MARKS))) > MAX_MARKS:
            raise ManuscriptUnreadable(
                f"The Markdown has {marks:,} line ends and signs such as *; the limit is {MAX_MARKS:,}. Send parts."
            )
        from markdown_it import MarkdownIt

        return from_html(MarkdownIt("commonmark").enable("table").render(_without_front_matter(text)), reads)
    return _from_text(text)


def _decoded(data: bytes) -> str:
    if len(data) > MAX_TEXT_BYTES:
        raise ManuscriptUnreadable(f"The text has more than {MAX_TEXT_BYTES / 2**20:.0f} MB. Send it in parts.")
    is_utf_16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if is_utf_16 else ("utf-8-sig", "cp1252", "latin-1"):
        with suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            if "\0" in text:
                break
            return text.replace("\r\n", "\n").replace("\r", "\n")
    raise ManuscriptUnreadable("The file is not text. Send EPUB, DOCX, HTML, Markdown or plain text.")


def _without_front_matter(text: str) -> str:
    return re.sub(r"\A---\n.*?\n---\n", "", text, count=1, flags=re.DOTALL)


def _xml_of(archive: Archive) -> IO[bytes]:
    """Return a Word document that has XML alone, which was checked. Raises ManuscriptUnreadable.

    mammoth keeps all of it in memory, some twenty times its size, expands entities, which Word never writes, and reads
    whatever files the document names."""
    sizes = {name: size for name, size in archive.sizes.items() if name.endswith((".xml", ".rels"))}
    if sum(sizes.values()) > MAX_DOCX_BYTES:
        raise ManuscriptUnreadable(
            f"The Word document has more than {MAX_DOCX_BYTES / 2**20:.0f} MB of text and forms. Send it in parts."
        )
    kept = io.BytesIO()
    tags = 0
    with zipfile.ZipFile(kept, "w") as checked:
        for name in sizes:
            data = archive.read(name, limit=MAX_DOCX_BYTES)
            tags = check_tags(data, MAX_DOCX_TAGS, f"The Word document, up to {name[:100]!r},", tags)
            try:
                parseString(data, ContentHandler(), forbid_dtd=True)
            except DTDForbidden as error:
                message = "The Word document declares entities of XML, which Word never writes."
                raise ManuscriptUnreadable(message) from error
            except (SAXException, LookupError, ValueError) as error:
                raise ManuscriptUnreadable(f"{name[:100]!r} in the Word document is not valid XML: {error}.") from error
            checked.writestr(name, data)
    return kept


def _read_docx(file: IO[bytes], reads: frozenset[str]) -> Manuscript:
    import mammoth

    file.seek(0)
    try:
        converted = mammoth.convert_to_html(file, convert_image=mammoth.images.img_element(lambda image: {"src": ""}))
    except Exception as error:  # mammoth says nothing of what it may raise, and the file is a stranger's
        raise ManuscriptUnreadable(f"The Word document can't be read: {type(error).__name__}.") from error
    return from_html(converted.value, reads)


def from_html(source: str, reads: frozenset[str]) -> Manuscript:
    """Return the manuscript in HTML. Raises ManuscriptUnreadable, ManuscriptTooLong."""
    reader = BlockReader(reads)
    found = Manuscript(left_out=reader.left_out)
    blocks = reader.read(source)
    found.language = reader.language
    found.title, found.chapters = _by_headings(blocks)
    return found.checked()


def _by_headings(blocks: Sequence[Block]) -> tuple[str, list[Chapter]]:
    """Return the title and the chapters of one document: a lone first heading of the top level is its title."""
    levels = [block.level for block in blocks if block.level]
    top = min(levels, default=0)
    has_title = levels.count(top) == 1 and bool(blocks) and any(level > top for level in levels)
    title = next((plain(block.text) for block in blocks if has_title and block.level == top), "")
    splitting = min((level for level in levels if level > top), default=top) if has_title else top
    chapters = [Chapter(title)]
    for block in blocks:
        if block.level == splitting and splitting:
            chapters.append(Chapter(plain(block.text)))
        chapters[-1].paragraphs.append(block.text)
    return title, chapters


def _from_text(text: str) -> Manuscript:
    """Return the manuscript of plain text, whose lines may be wrapped."""
    if start := GUTENBERG_START.search(text):
        text = text[start.end() :]
    if end := GUTENBERG_END.search(text):
        text = text[: end.start()]
    found = Manuscript(chapters=[Chapter("")])
    for paragraph in _paragraphs(text):
        if len(paragraph) <= 120 and HEADING.match(paragraph):
            last = found.chapters[-1]
            if not last.title and not last.paragraphs:
                found.chapters.pop()
            found.chapters.append(Chapter(paragraph.rstrip(".")))
        found.chapters[-1].paragraphs.append(paragraph)
    found.chapters = list(_with_text(found.chapters))
    front = found.chapters[0].paragraphs if found.chapters and not found.chapters[0].title else []
    if front and len(found.chapters) > 1 and len(front[0]) <= MAX_TITLE_PAGE:
        found.title = front[0]
        by = re.match(r"(?:by|von|par|por|di|de) (.+)", front[1] if len(front) > 1 else "", re.IGNORECASE)
        found.author = by[1] if by and len(front[1]) <= MAX_TITLE_PAGE else ""
    return found.checked()


def _paragraphs(text: str) -> Iterable[str]:
    for paragraph in PARAGRAPHS.split(text):
        if said := " ".join(paragraph.split()):
            yield said if any(map(str.isalnum, said)) else SCENE_BREAK


def _with_text(chapters: Sequence[Chapter]) -> Iterable[Chapter]:
    """Yield the chapters without those that a table of contents makes: a heading alone."""
    for chapter in chapters:
        if not chapter.title or len(chapter.paragraphs) > 1:
            yield chapter
