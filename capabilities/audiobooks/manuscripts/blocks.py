"""Blocks: the headings and paragraphs of HTML, as they are read aloud."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree, html

from capabilities.audiobooks.kinds.cast import TAG, plain
from capabilities.audiobooks.manuscripts.manuscript import ManuscriptUnreadable

#: Elements that are left out unless they are asked for, and what the plan calls them; formulas and the like always are.
LEFT_OUT = {"table": "tables", "pre": "code", "nav": "contents", "math": "formulas", "svg": "drawings"}
SKIPPED = frozenset({"script", "style", "head", "noscript", "template", "button", "form", "iframe"})
#: EPUB's words for what is a note or the number of a printed page (EPUB 3 Structural Semantics).
NOTES = frozenset({"footnote", "endnote", "rearnote", "footnotes", "endnotes", "rearnotes", "noteref"})
WORD_NOTES = ("footnote-", "endnote-")
PAGES = frozenset({"pagebreak"})
NAVIGATION = frozenset({"navigation", "toc", "index", "pagelist", "page-list", "landmarks"})
TYPE, XML_LANG = "{http://www.idpf.org/2007/ops}type", "{http://www.w3.org/XML/1998/namespace}lang"
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
HEADINGS = {f"h{level}": level for level in range(1, 7)}
#: Elements that end a paragraph.
BREAKS = frozenset(
    {"p", "div", "li", "blockquote", "section", "article", "dd", "dt", "figure", "figcaption", "hr", "ul", "ol", "dl"}
    | {"table", "tr", "pre", "body", "header", "footer", "main", "aside", "address"}
)
#: The pause for a line without a word, such as three asterisks.
SCENE_BREAK = "[pause 2s]"
#: A voice that speaks nothing.
EMPTY = re.compile(r'<voice name="[^"<>\n]{1,100}">\s*</voice>')


#: Tags of an HTML file. A long novel in one file has some 50,000. 500,000 took 217 MB of memory.
MAX_TAGS = 400_000


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, or a heading of a level from 1 to 6; 0 is a paragraph."""

    text: str
    level: int = 0


@dataclass(slots=True)
class BlockReader:
    """Reads HTML into blocks, and counts what it leaves out; `reads` are the parts that it does not.

    Paragraphs marked as another language than the book's are tagged (capabilities/audiobooks/kinds/cast.py)."""

    reads: frozenset[str] = frozenset()
    #: The book's; unless it is known, that of the first element that names one.
    language: str = ""
    left_out: Counter[str] = field(default_factory=Counter)
    _text: list[str] = field(default_factory=list)
    _languages: list[str] = field(default_factory=list)
    #: The tags of the voices that are open: they may be around paragraphs, and each paragraph has its own.
    _voices: list[str] = field(default_factory=list)

    def read(self, source: bytes | str) -> list[Block]:
        """Return the blocks of a document in order. Raises ManuscriptUnreadable if it is empty or nested too deeply."""
        parser = html.HTMLParser(no_network=True, huge_tree=False, encoding="utf-8", remove_comments=True)
        data = source.encode() if isinstance(source, str) else source
        check_tags(data, MAX_TAGS, "HTML in the manuscript")
        try:
            root = html.document_fromstring(data, parser=parser)
        except (etree.LxmlError, ValueError) as error:
            raise ManuscriptUnreadable(f"HTML in the manuscript can't be read: {error}.") from error
        if fatal := [one.message for one in parser.error_log if one.level_name == "FATAL"]:
            raise ManuscriptUnreadable(f"HTML in the manuscript can't be read to its end: {fatal[0]}.")
        return [block for block in (*self._walk(root), *self._ended(0)) if block.text]

    def _walk(self, element: "etree._Element") -> Iterator[Block]:
        # Not recursive: hostile documents nest deeper than Python calls may.
        waiting: list[tuple[etree._Element, bool]] = [(element, False)]
        while waiting:
            node, is_end = waiting.pop()
            if is_end:
                yield from self._close(node)
                continue
            if not isinstance(node.tag, str):
                self._add(node.tail)
                continue
            if self._is_left_out(node):
                self._add(node.tail)
                continue
            if node.tag in BREAKS or node.tag in HEADINGS:
                yield from self._ended(0)
            if language := _language(node):
                self.language = self.language or language
                self._languages.append(language)
            self._open(node)
            if node.tag == "hr":
                yield Block(SCENE_BREAK)
            self._add(node.text)
            waiting.append((node, True))
            waiting += [(child, False) for child in reversed(node)]

    def _open(self, node: "etree._Element") -> None:
        if node.tag == "br":
            self._add("\n")
        elif node.tag in ("td", "th") and node.getprevious() is not None:
            self._add(", ")
        elif tag := _voice(node):
            self._add(tag)
            self._voices.append(tag)
        elif node.tag == "img" and "pictures" in self.reads and (alt := node.get("alt", "").strip()):
            self._add(f" Picture: {alt.rstrip('.')}. ")
        elif "page_numbers" in self.reads and _types(node) & PAGES and (number := node.get("title")):
            self._add(f" Page {number}. ")

    def _close(self, node: "etree._Element") -> Iterator[Block]:
        if _voice(node):
            self._add("</voice>")
            self._voices.pop()
        if node.tag in BREAKS or node.tag in HEADINGS:
            yield from self._ended(HEADINGS.get(str(node.tag), 0))
        if _language(node):
            self._languages.pop()
        self._add(node.tail)

    def _is_left_out(self, node: "etree._Element") -> bool:
        if node.tag in SKIPPED or node.get("hidden") is not None:
            return True
        kind = LEFT_OUT.get(str(node.tag))
        types = _types(node)
        # Word's notes are a list that mammoth makes.
        if kind is None and (types & NOTES or (node.tag == "li" and node.get("id", "").startswith(WORD_NOTES))):
            kind = "footnotes"
        if "noteref" in types or (node.tag == "sup" and node.find(".//a") is not None):
            return True  # the number of a note
        if kind is not None and kind not in self.reads:
            self.left_out[kind] += 1
            return True
        if node.tag == "img" and not ("pictures" in self.reads and node.get("alt")):
            self.left_out["pictures"] += 1
        return bool(types & NAVIGATION or (types & PAGES and "page_numbers" not in self.reads))

    def _add(self, text: str | None) -> None:
        if text:
            self._text.append(text)

    def _ended(self, level: int) -> Iterator[Block]:
        # Documents made by Sphinx end each heading with a link to itself.
        text = " ".join("".join(self._text).split()).removesuffix("¶")
        self._text[:] = self._voices
        text = EMPTY.sub("", text + "</voice>" * len(self._voices)).strip()
        if not text:
            return
        language = self._languages[-1] if self._languages else self.language
        if not any(map(str.isalnum, plain(text))):
            yield Block(SCENE_BREAK)
        elif level or base_language(language) == base_language(self.language):
            yield Block(text, level)
        else:
            yield Block(f'<lang xml:lang="{language}">{text}</lang>')


def check_tags(markup: bytes, limit: int, what: str, before: int = 0) -> int:
    """Return the number of tags, with those `before`. Raises ManuscriptUnreadable for more than memory has room for."""
    if (tags := before + markup.count(b"<")) > limit:
        raise ManuscriptUnreadable(f"{what} has {tags:,} tags; the limit is {limit:,}. Send it in parts.")
    return tags


def base_language(tag: str) -> str:
    """Return the language of a tag such as en-GB, without its region."""
    return tag.partition("-")[0].lower()


def language_tag(said: str) -> str:
    """Return a language tag, or nothing if it is none, such as "English"."""
    return said if len(said) <= 35 and LANGUAGE.fullmatch(said) else ""


def _language(node: "etree._Element") -> str:
    return language_tag(node.get("lang") or node.get("xml:lang") or node.get(XML_LANG) or "")


def _voice(node: "etree._Element") -> str:
    """Return the tag of a voice, or nothing if the node is none or names none."""
    tag = f'<voice name="{node.get("name", "")}">' if node.tag == "voice" else ""
    return tag if TAG.fullmatch(tag) else ""


def _types(node: "etree._Element") -> set[str]:
    said = f"{node.get(TYPE) or node.get('epub:type') or ''} {node.get('role') or ''}"
    return {one.removeprefix("doc-") for one in said.split()}
