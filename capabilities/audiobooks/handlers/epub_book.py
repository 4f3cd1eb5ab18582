"""EPUB book: an EPUB 3 whose sentences are highlighted while they are read aloud (Media Overlays 3.3)."""

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import IO
from uuid import uuid4
from xml.sax.saxutils import escape, quoteattr

from capabilities.audiobooks.handlers.containers import MP3, add_file
from capabilities.audiobooks.handlers.joining import Joiner
from capabilities.audiobooks.handlers.kept_chapters import TimedPassage
from capabilities.audiobooks.kinds.passages import BLANK_LINES
from capabilities.speech.kinds.pauses import MARKS
from pipeline.subtitles.segments import Segment

#: As small as speech sounds good: half an MP3 for a shop.
SMALL_MP3 = tuple("96k" if option == "192k" else option for option in MP3)
ACTIVE = "spoken"
STYLE = f"body {{ margin: 5%; line-height: 1.5; }}\n.{ACTIVE} {{ background-color: #fde68a; color: #000000; }}\n"
CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>
"""
#: Signs that XML can't carry.
UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def write_epub(joiner: Joiner, file: IO[bytes]) -> None:
    """Write a book into a file. Raises FfmpegFailed, Stopped."""
    book = joiner.book
    language = quoteattr(book.language or "und")
    overlaid: list[tuple[str, str, float | None]] = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("EPUB/style.css", STYLE)
        if joiner.cover is not None:
            archive.writestr("EPUB/cover.jpg", joiner.cover, zipfile.ZIP_STORED)
        for chapter in joiner.chapters(SMALL_MP3):
            name = f"c{chapter.number:04}"
            passages = [list(paragraphs_of(passage)) for passage in chapter.passages]
            sentences = [one for found in passages for pieces in found for _, one in pieces if one is not None]
            archive.writestr(f"EPUB/{name}.xhtml", _text(chapter.title, passages, language))
            seconds = chapter.seconds if sentences else None
            if seconds is not None:
                archive.writestr(f"EPUB/{name}.smil", _overlay(name, sentences, seconds))
                add_file(archive, f"EPUB/{name}.mp3", chapter.file)
            overlaid.append((name, chapter.title, seconds))
        archive.writestr("EPUB/nav.xhtml", _contents(overlaid, book.title, language))
        archive.writestr("EPUB/package.opf", _package(joiner, overlaid, language))


def paragraphs_of(passage: TimedPassage) -> Iterator[list[tuple[str, Segment | None]]]:
    """Yield the paragraphs of a passage in pieces, each with the sentence that it is, if it is one."""
    paragraphs = [_collapsed(written) for written in BLANK_LINES.split(MARKS.sub(" ", passage.text))]
    waiting = [(_collapsed(sentence.text), sentence) for sentence in passage.sentences]
    # One that the text lacks is not waited for.
    waiting = [(said, one) for said, one in waiting if said and any(said in paragraph for paragraph in paragraphs)]
    for paragraph in paragraphs:
        at = 0
        pieces: list[tuple[str, Segment | None]] = []
        while waiting and (found := paragraph.find(waiting[0][0], at)) >= 0:
            said, sentence = waiting.pop(0)
            pieces += [(paragraph[at:found], None), (said, sentence)]
            at = found + len(said)
        pieces.append((paragraph[at:], None))
        if kept := [piece for piece in pieces if piece[0]]:
            yield kept


def _text(title: str, passages: Sequence[Sequence[Sequence[tuple[str, Segment | None]]]], language: str) -> str:
    number = 0
    lines: list[str] = []
    for paragraphs in passages:
        for paragraph in paragraphs:
            shown = ""
            for text, sentence in paragraph:
                number += sentence is not None
                shown += escape(text) if sentence is None else f'<span id="s{number}">{escape(text)}</span>'
            is_title = not lines and "".join(text for text, _ in paragraph) == title
            lines.append(f"<h1>{shown}</h1>" if is_title else f"<p>{shown}</p>")
    heading = "" if lines and lines[0].startswith("<h1>") else f"<h1>{_safe(title)}</h1>\n"
    body = f'<section epub:type="chapter">\n{heading}' + "\n".join(lines) + "\n</section>"
    return _page(title, body, language)


def _page(title: str, body: str, language: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml"'
        f' xmlns:epub="http://www.idpf.org/2007/ops" lang={language} xml:lang={language}>\n<head><title>{_safe(title)}'
        f'</title><link rel="stylesheet" href="style.css"/></head>\n<body>\n{body}\n</body>\n</html>\n'
    )


def _overlay(name: str, sentences: Sequence[Segment], seconds: float) -> str:
    """Return the overlay of a chapter: each sentence lasts until the next, so that its pauses are heard too."""
    starts = [0.0, *(sentence.start for sentence in sentences[1:]), seconds]
    pars = "\n".join(
        f'<par id="p{number}"><text src="{name}.xhtml#s{number}"/><audio src="{name}.mp3"'
        f' clipBegin="{starts[number - 1]:.3f}s" clipEnd="{starts[number]:.3f}s"/></par>'
        for number in range(1, len(sentences) + 1)
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<smil xmlns="http://www.w3.org/ns/SMIL" version="3.0">\n<body>\n'
        f"{pars}\n</body>\n</smil>\n"
    )


def _contents(chapters: Sequence[tuple[str, str, float | None]], title: str, language: str) -> str:
    links = "\n".join(f'<li><a href="{name}.xhtml">{_safe(chapter)}</a></li>' for name, chapter, _ in chapters)
    body = f'<nav epub:type="toc"><h1>{_safe(title) or "Contents"}</h1>\n<ol>\n{links}\n</ol></nav>'
    return _page(title or "Contents", body, language)


def _package(joiner: Joiner, chapters: Sequence[tuple[str, str, float | None]], language: str) -> str:
    book = joiner.book
    voices = ", ".join(book.voices) or "unknown"
    about = [
        f'<dc:identifier id="id">urn:uuid:{uuid4()}</dc:identifier>',
        f"<dc:title>{_safe(book.title) or 'Untitled'}</dc:title>",
        f"<dc:language>{_safe(book.language) or 'und'}</dc:language>",
        *([f"<dc:creator>{_safe(book.author)}</dc:creator>"] if book.author else []),
        f'<meta property="dcterms:modified">{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}</meta>',
        f'<meta property="media:narrator">{_safe(voices)} (synthetic)</meta>',
        f'<meta property="media:active-class">{ACTIVE}</meta>',
        f'<meta property="media:duration">{sum(seconds or 0 for _, _, seconds in chapters):.3f}s</meta>',
    ]
    items = [
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
        '<item id="style" href="style.css" media-type="text/css"/>',
    ]
    if joiner.cover is not None:
        items.append('<item id="cover" href="cover.jpg" media-type="image/jpeg" properties="cover-image"/>')
    for name, _, seconds in chapters:
        overlay = "" if seconds is None else f' media-overlay="{name}-overlay"'
        items.append(f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"{overlay}/>')
        if seconds is not None:
            about.append(f'<meta property="media:duration" refines="#{name}-overlay">{seconds:.3f}s</meta>')
            items.append(f'<item id="{name}-overlay" href="{name}.smil" media-type="application/smil+xml"/>')
            items.append(f'<item id="{name}-sound" href="{name}.mp3" media-type="audio/mpeg"/>')
    spine = "".join(f'<itemref idref="{name}"/>' for name, _, _ in chapters)
    parts = ['<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">', *about, "</metadata>", "<manifest>", *items]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<package xmlns="http://www.idpf.org/2007/opf" version="3.0"'
        f' unique-identifier="id" xml:lang={language}>\n'
        + "\n".join(parts)
        + f"\n</manifest>\n<spine>{spine}</spine>\n</package>\n"
    )


def _safe(text: str) -> str:
    return escape(_collapsed(text))


def _collapsed(text: str) -> str:
    return " ".join(UNWRITABLE.sub(" ", text).split())
