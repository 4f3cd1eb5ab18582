"""Plain text: a post's Markdown or HTML, reduced to what a reader would see."""

import html
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import regex
from lxml import etree

from workers.engines.metadata import Post

#: Characters of a post's source that are read; what a post is about stands in its first 30,000 words, and no more keeps
#: the time bounded whatever is sent.
LONGEST_SOURCE = 200_000

#: Characters of Markdown that are parsed; the parser is in Python, at 1 MB a second.
LONGEST_MARKDOWN = 60_000

#: Signs and lines of Markdown above which it is read without its marks: the parser takes seconds for a line of
#: brackets, and most of one for a list of single letters.
MOST_SIGNS = 6_000

#: What no reader sees: control and format characters (zero width, direction, tags), surrogates, private and unassigned
#: ones. The two joiners stay where something stands before them: Persian, Hindi and emoji need them.
UNSEEN = regex.compile(
    r"[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]--[\n\t\u200c\u200d]]|(?<![\p{L}\p{M}\p{S}])[\u200c\u200d]+", regex.V1
)

#: Marks without a letter, and more than any script stacks on one.
STRAY_MARKS = regex.compile(r"(?<![\p{L}\p{N}\p{M}\p{S}\u200c\u200d])\p{M}+|(?<=\p{M}{3})\p{M}+")

#: Latin letters and digits as wide as Chinese ones, and the point between them.
WIDE = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
WIDE_LETTER = regex.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")
WIDE_POINT = regex.compile(r"(?<=[\w])\uff0e(?=[A-Za-z0-9\uff10-\uff5a])")

FRONT_MATTER = regex.compile(r"\A\s*(---|\+\+\+)[ \t]*\n.{0,20000}?\n\1[ \t]*(?:\n|\Z)", regex.DOTALL)
SHORTCODES = regex.compile(
    r"\{\{[^{}\n]{0,300}\}\}|\{%[^{}\n]{0,300}%\}"
    r"|\[/?\w[\w-]{0,40}(?:\s+[\w-]{1,40}=(?:\"[^\"\n]{0,300}\"|'[^'\n]{0,300}'|[^\s\]]{1,300})){1,20}\s*/?\]|\[/[a-z][\w-]{0,40}\]"
)
FOOTNOTES = regex.compile(r"(?m)^\[\^[^\]\n]{1,40}\]:.*$|\[\^[^\]\n]{1,40}\]")
EMOJI_CODES = regex.compile(r"(?<![\w:]):[a-z][a-z0-9_+-]{1,30}:(?![\w:])")
COMMENTS = regex.compile(r"<!--.*?(?:-->|\Z)", regex.DOTALL)

#: A content is HTML when it starts with a tag or closes blocks; else it is Markdown, which may have tags in it.
OPENS_WITH_TAG = regex.compile(r"\s*<(?:!doctype|[a-z][a-z0-9]*[\s/>])", regex.IGNORECASE)
CLOSED_BLOCK = regex.compile(r"</(?:p|div|ul|ol|section|article|h[1-6]|table|body|blockquote)\s*>", regex.IGNORECASE)

_ELEMENTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
SKIPPED, INLINE = frozenset(_ELEMENTS["skipped"].split()), frozenset(_ELEMENTS["inline"].split())

HIDDEN = regex.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])", regex.IGNORECASE)


def read_post(title: str, content: str | None, language: str) -> Post:
    """Return a post as the engines take it: its title in one line, its content as paragraphs, one a line."""
    return Post(title=one_line(title), text=plain_text(content or ""), language=language)


def one_line(text: str) -> str:
    """Return a short text, such as a title, without markup, line breaks and what no reader sees."""
    text = html.unescape(text) if "&" in text else text
    text = regex.sub(r"</?[a-zA-Z][^<>]{0,500}>", " ", text)
    text = regex.sub(r"!?\[([^\[\]]{0,500})\]\([^()\s]{0,500}\)", r"\1", text)
    text = regex.sub(r"(?<!\w)[*_`~]{1,3}(?=\S)|(?<=\S)[*_`~]{1,3}(?!\w)|^\s*#{1,6}\s+", "", text)
    return " ".join(visible(text).split())


def plain_text(content: str) -> str:
    """Return the text of Markdown or HTML: a line a paragraph, without code, navigation, link targets and images."""
    content = content[:LONGEST_SOURCE].replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    if not content.strip():
        return ""
    content = SHORTCODES.sub(" ", COMMENTS.sub(" ", FRONT_MATTER.sub("", content)))
    if not (OPENS_WITH_TAG.match(content) or len(CLOSED_BLOCK.findall(content)) > 1):
        content = _markdown_as_html(EMOJI_CODES.sub(" ", FOOTNOTES.sub(" ", content[:LONGEST_MARKDOWN])))
    lines = (" ".join(line.split()) for line in visible(_html_as_text(content)).split("\n"))
    return "\n".join(line for line in lines if line)


def visible(text: str) -> str:
    """Return a text in NFC, without characters that no reader sees."""
    # Letters as wide as Chinese ones are the same letters, in addresses too.
    text = WIDE_POINT.sub(".", text).translate(WIDE) if WIDE_LETTER.search(text) else text
    text = UNSEEN.sub("", text.replace("\xad", "").replace("\u2028", "\n").replace("\u2029", "\n"))
    return str(STRAY_MARKS.sub("", unicodedata.normalize("NFC", text)))


def _markdown_as_html(content: str) -> str:
    if sum(map(content.count, "[*_`<|\n")) > MOST_SIGNS:
        return html.escape(regex.sub(r"[\[\]*_`#>|~]+", " ", content)).replace("\n", "<br>")
    # Here, since it takes 40 ms, and most content is HTML.
    from markdown_it import MarkdownIt

    # The default nesting of 100 takes seconds for a line of 100,000 brackets.
    parser = MarkdownIt("commonmark", {"maxNesting": 20}).enable(["table", "strikethrough"])
    return str(parser.render(content))


def _html_as_text(content: str) -> str:
    # The parser takes a text's own `charset` at its word, so it gets bytes and their encoding.
    data = content.encode("utf-8", "replace")
    try:
        # Tags that nobody closes nest all that follows, and what is deeper than 256 is dropped; in a huge tree, 2,048.
        # The source is bounded already.
        parser = etree.HTMLParser(recover=True, no_network=True, encoding="utf-8", huge_tree=True)
        root = etree.fromstring(data, parser)
    except etree.LxmlError:
        root = None
    return "" if root is None else "".join(_pieces(root))


def _pieces(root: Any) -> Iterator[str]:
    """Yield the text in the order of reading, with a line break at each end of a block."""
    # A walk needs no recursion: HTML may be nested as deep as it likes.
    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        is_read = isinstance(element.tag, str) and element.tag not in SKIPPED and not _is_hidden(element.attrib)
        if event == "start" and not is_read:
            walk.skip_subtree()
        edge = " " if not is_read else "" if element.tag in INLINE else "\n"
        text = element.tail if event != "start" else element.text if is_read else ""
        yield edge + (text or "").replace("\n", " ")


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    is_marked = "hidden" in attributes or attributes.get("aria-hidden") == "true"
    return is_marked or HIDDEN.search(attributes.get("style", "")) is not None
