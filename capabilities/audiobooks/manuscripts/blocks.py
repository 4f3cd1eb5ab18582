"""Blocks: the headings and paragraphs of HTML, as they are read aloud."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree, html

from capabilities.audiobooks.manuscripts.manuscript import ManuscriptUnreadable

#: Elements that are left out, and what the plan calls them.
LEFT_OUT = {"table": "tables", "pre": "code", "nav": "contents", "math": "formulas", "svg": "pictures"}
SKIPPED = frozenset({"script", "style", "head", "noscript", "template", "button", "form", "iframe"})
#: EPUB's words for what is a note or the number of a printed page (EPUB 3 Structural Semantics).
NOTES = frozenset({"footnote", "endnote", "rearnote", "footnotes", "endnotes", "rearnotes", "noteref"})
PAGES = frozenset({"pagebreak"})
NAVIGATION = frozenset({"navigation", "doc-toc", "doc-index", "doc-pagelist", "toc", "index", "page-list", "landmarks"})
TYPE = "{http://www.idpf.org/2007/ops}type"
HEADINGS = {f"h{level}": level for level in range(1, 7)}
#: Elements that end a paragraph.
BREAKS = frozenset(
    {"p", "div", "li", "blockquote", "section", "article", "dd", "dt", "figure", "figcaption", "hr", "ul", "ol", "dl"}
    | {"body", "header", "footer", "main", "aside", "address"}
)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, or a heading of a level from 1 to 6; 0 is a paragraph."""

    text: str
    level: int = 0


@dataclass(slots=True)
class BlockReader:
    """Reads HTML into blocks, and counts what it leaves out."""

    left_out: Counter[str] = field(default_factory=Counter)
    _text: list[str] = field(default_factory=list)

    def read(self, source: bytes | str) -> list[Block]:
        """Return the blocks of a document in order. Raises ManuscriptUnreadable if it is empty or nested too deeply."""
        parser = html.HTMLParser(no_network=True, huge_tree=False, encoding="utf-8", remove_comments=True)
        data = source.encode() if isinstance(source, str) else source
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
            elif node.tag == "br":
                self._add("\n")
            self._add(node.text)
            waiting.append((node, True))
            waiting += [(child, False) for child in reversed(node)]

    def _close(self, node: "etree._Element") -> Iterator[Block]:
        if node.tag in BREAKS or node.tag in HEADINGS:
            yield from self._ended(HEADINGS.get(str(node.tag), 0))
        self._add(node.tail)

    def _is_left_out(self, node: "etree._Element") -> bool:
        if node.tag in SKIPPED or node.get("hidden") is not None:
            return True
        if (kind := LEFT_OUT.get(str(node.tag))) is not None:
            self.left_out[kind] += 1
            return True
        types = set((node.get(TYPE) or node.get("epub:type") or "").split()) | set((node.get("role") or "").split())
        if types & NOTES or any(f"doc-{one}" in types for one in NOTES):
            self.left_out["footnotes"] += 1
            return True
        if types & NAVIGATION:
            return True
        if node.tag == "img":
            self.left_out["pictures"] += 1
        is_note = node.tag == "sup" and node.find(".//a") is not None
        return bool(types & PAGES) or "doc-pagebreak" in types or is_note

    def _add(self, text: str | None) -> None:
        if text:
            self._text.append(text)

    def _ended(self, level: int) -> Iterator[Block]:
        # Documents made by Sphinx end each heading with a link to itself.
        text = " ".join("".join(self._text).split()).removesuffix("¶")
        self._text.clear()
        if text:
            yield Block(text, level)
