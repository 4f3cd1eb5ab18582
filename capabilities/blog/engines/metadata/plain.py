"""Plain text: a post's Markdown or HTML, reduced to its visible text."""

import html
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from pathlib import Path
from typing import Any, Self

import regex
from lxml import etree

from capabilities.blog.engines.metadata import Post
from capabilities.blog.engines.metadata.boilerplate import (
    is_boilerplate,
    is_named_boilerplate,
    is_step,
    opens_boilerplate,
    opens_procedure,
)
from capabilities.blog.engines.metadata.source import as_html

#: Invisible characters: control, format, surrogate, private and unassigned ones. The two joiners stay behind others:
#: Persian, Hindi and emoji need them.
UNSEEN = regex.compile(
    r"[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]--[\n\t\u200c\u200d]]|(?<![\p{L}\p{M}\p{S}])[\u200c\u200d]+", regex.V1
)

#: Marks without a letter, and more than any script puts on one.
STRAY_MARKS = regex.compile(r"(?<![\p{L}\p{N}\p{M}\p{S}\u200c\u200d])\p{M}+|(?<=\p{M}{3})\p{M}+")

#: Fullwidth Latin letters and digits, and the point between them.
WIDE = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
WIDE_LETTER = regex.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")
WIDE_POINT = regex.compile(r"(?<=[\w])\uff0e(?=[A-Za-z0-9\uff10-\uff5a])")

_ELEMENTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
SKIPPED, INLINE, HEADINGS, BESIDE, LISTS = (
    frozenset(_ELEMENTS[name].split()) for name in ("skipped", "inline", "headings", "beside", "lists")
)

#: Most characters of an element that its name rules out, and most pieces of text that are read.
LONGEST_NAMED, MOST_PIECES = 600, 400

#: Least share of links in the text of a list of links.
LEAST_LINKED = 0.6

HIDDEN = regex.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])", regex.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PostLine:
    """A line of a post; `is_prose`: it is a paragraph, no item, cell, heading or remark."""

    text: str
    is_prose: bool
    is_heading: bool = False


class _Section(Enum):
    """The kind of text under a heading."""

    TEXT = auto()
    PROCEDURE = auto()
    BOILERPLATE = auto()

    @classmethod
    def of(cls, heading: str) -> Self:
        if opens_boilerplate(heading):
            return cls(cls.BOILERPLATE)
        return cls(cls.PROCEDURE if opens_procedure(heading) else cls.TEXT)


def read_post(title: str, content: str | None, language: str) -> Post:
    """Return a post for the engines: its title in one line, its content with a paragraph a line."""
    lines = lines_of(content or "")
    text = "\n".join(line.text for line in lines)
    return Post(title=one_line(title), text=text, language=language, prose=_prose(lines))


def _prose(lines: Sequence[PostLine]) -> str:
    """Return the paragraphs, with an empty line in place of other text between them."""
    kept: list[str] = []
    for place, line in enumerate(lines):
        if line.is_prose:
            kept += ["", line.text] if kept and not lines[place - 1].is_prose else [line.text]
    return "\n".join(kept)


def one_line(text: str) -> str:
    """Return a short text without markup, line breaks and invisible characters."""
    text = html.unescape(text) if "&" in text else text
    text = regex.sub(r"</?[a-zA-Z][^<>]{0,500}>", " ", text)
    text = regex.sub(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,500}\)", r"\1", text)
    text = regex.sub(r"(?<!\w)[*_`~]{1,3}(?=\S)|(?<=\S)[*_`~]{1,3}(?!\w)|^\s*#{1,6}\s+", "", text)
    return " ".join(visible(text).split())


def plain_text(content: str) -> str:
    """Return the text of Markdown or HTML: a line a paragraph, without code, navigation, link targets and images."""
    return "\n".join(line.text for line in lines_of(content))


def lines_of(content: str) -> list[PostLine]:
    if not content.strip():
        return []
    found: list[PostLine] = []
    under = _Section.TEXT
    for written in _lines(as_html(content)):
        text = " ".join(visible(written.text).split())
        if written.is_heading:
            under = _Section.of(text)
        if not text or under is _Section.BOILERPLATE or is_boilerplate(text):
            continue
        is_prose = written.is_prose and under is _Section.TEXT and not is_step(text)
        found.append(PostLine(text, is_prose=is_prose, is_heading=written.is_heading))
    return found


def visible(text: str) -> str:
    """Return a text in NFC, without invisible characters."""
    text = WIDE_POINT.sub(".", text).translate(WIDE) if WIDE_LETTER.search(text) else text
    text = UNSEEN.sub("", text.replace("\xad", "").replace("\u2028", "\n").replace("\u2029", "\n"))
    return str(STRAY_MARKS.sub("", unicodedata.normalize("NFC", text)))


def _lines(content: str) -> Iterator[PostLine]:
    # The parser would believe the text's own `charset`, so it gets bytes and their encoding.
    data = content.encode("utf-8", "replace")
    try:
        # Unclosed tags nest all that follows; the parser drops text deeper than 256, in a huge tree deeper than 2,048.
        parser = etree.HTMLParser(recover=True, no_network=True, encoding="utf-8", huge_tree=True)
        root = etree.fromstring(data, parser)
    except etree.LxmlError:
        root = None
    return iter(()) if root is None else _read(root)


def _read(root: Any) -> Iterator[PostLine]:
    """Yield the lines in reading order; a line ends where a block begins or ends."""
    line: list[str] = []
    inside: Counter[str] = Counter()
    # A walk needs no recursion: HTML may be nested as deep as it likes.
    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        is_read = isinstance(element.tag, str) and not _is_left_out(element)
        if event == "start" and not is_read:
            walk.skip_subtree()
        if is_read and element.tag not in INLINE:
            yield _line(line, inside)
            line = []
        line.append("" if is_read else " ")
        if is_read:
            kind = _kind(element)
            inside[kind] += 1 if event == "start" else -1
        text = element.tail if event != "start" else element.text if is_read else ""
        line.append((text or "").replace("\n", " "))
    yield _line(line, inside)


def _line(pieces: list[str], inside: Mapping[str, int]) -> PostLine:
    return PostLine(
        "".join(pieces), is_prose=not (inside["beside"] or inside["heading"]), is_heading=inside["heading"] > 0
    )


def _kind(element: Any) -> str:
    if element.tag in HEADINGS:
        return "heading"
    return "beside" if element.tag in BESIDE or element.get("class") == "callout" else "text"


def _is_left_out(element: Any) -> bool:
    if element.tag in SKIPPED or _is_hidden(element.attrib):
        return True
    names = f"{element.get('class', '')} {element.get('id', '')}"
    if names != " " and is_named_boilerplate(names):
        # A page's whole body may have such a class, too.
        return _length(element) <= LONGEST_NAMED
    return element.tag in LISTS and _is_list_of_links(element)


def _length(element: Any) -> int:
    """Return the length of an element's text, at most a little over LONGEST_NAMED."""
    length = 0
    for piece in islice(element.itertext(), MOST_PIECES):
        length += len(piece)
        if length > LONGEST_NAMED:
            break
    return length


def _is_list_of_links(element: Any) -> bool:
    """Return whether an element is a contents list: only links within its page, or one line of links."""
    links = list(islice(element.iter("a"), MOST_PIECES))
    if not links:
        return False
    linked = sum(_length(link) for link in links)
    if linked < LEAST_LINKED * len("".join(islice(element.itertext(), MOST_PIECES)).strip()):
        return False
    return all(link.get("href", "").startswith("#") for link in links) or (element.tag == "p" and len(links) > 1)


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    is_marked = "hidden" in attributes or attributes.get("aria-hidden") == "true"
    return is_marked or HIDDEN.search(attributes.get("style", "")) is not None
