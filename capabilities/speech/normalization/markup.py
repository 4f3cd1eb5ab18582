"""Markup: the signs of Markdown and HTML, which are not said."""

import html
import re

from capabilities.speech.normalization.language import Rule, SpokenLanguage

#: Elements of HTML that people write in Markdown; <T> may be something else.
ELEMENTS = (
    "abbr|address|article|aside|audio|blockquote|body|br|button|caption|center|cite|code|dd|del|details|dfn|div|dl|dt|em"
    "|embed|figcaption|figure|font|footer|h[1-6]|head|header|hr|html|iframe|img|ins|kbd|li|link|main|mark|meta|nav|object"
    "|ol|picture|pre|samp|section|small|source|span|strong|sub|summary|sup|svg|table|tbody|td|tfoot|th|thead|time|title"
    "|tr|tt|ul|var|video|wbr|[abipqsu]"
)
TAG = re.compile(rf"</?(?:{ELEMENTS})(?:[\s/][^<>]{{0,400}})?>|<!--(?:[^-]|-(?!->)){{0,400}}-->", re.IGNORECASE)
ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,6});")
#: [docs]: https://example.com "Title"
DEFINITION = re.compile(r"(?m)^[ ]{0,3}\[[^\]\n]{1,100}\]:[ \t]+<?(?:[a-z]{2,9}:|[./#])[^\n]{0,1000}")
FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,30}\]:?")
#: [docs][ref], but no a[1][2].
REFERENCE = re.compile(r"(?<![\w\])])!?\[([^\]\[\n]{1,300})\]\[[^\]\[\n]{0,100}\]")
#: The brackets and target of a link, without its words; a picture may be in a link.
LINK = re.compile(
    r"!?\[(?=[^\]\[\n]{1,300}\]\()|\[(?=!\[)"
    r"|(?<=[^\s\[])\]\([ ]?(?:<[^<>\n]{0,500}>|[^()\s<>]{0,500}[./#:][^()\s<>]{0,500})"
    r"(?:[ ]{1,3}[\"'][^\"'\n]{0,300}[\"'])?\)"
)
AUTOLINK = re.compile(r"<(?=(?:https?://|mailto:|[\w.+-]{1,60}@)[^\s<>]{1,500}>)|(?<=[\w/])>")
IN_AUTOLINK = re.compile(r"<(?:https?://|mailto:|[\w.+-]{1,60}@)[^\s<>]*\Z")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")

#: The start of a heading, list item or quotation, and signs around words.
LINE_MARK = re.compile(r"(?m)^[ \t]{0,8}(?:#{1,6}|[*•>])[ \t]+")
#: A line between two scenes or under a heading: ***, * * *, ---, ===.
SCENE_BREAK = re.compile(r"(?m)^[ \t]{0,8}([*_=-])(?:[ \t]?\1){2,80}[ \t\r]{0,8}$")
EMPHASIS = re.compile(
    r"(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])|(?<!\w)_{1,2}(?=[^\W_])|(?<=[^\W_])_{1,2}(?!\w)|`{1,3}"
)
#: The line between the head of a table and its rows, and the borders of a cell.
TABLE_LINE = re.compile(r"(?m)^[ \t]{0,8}\|[ \t]{0,8}:?-{2}[-:| \t]{0,2000}$")
CELL = re.compile(r"[ \t]{0,200}\|[ \t]{0,200}")


def rules(language: SpokenLanguage) -> list[Rule]:
    """Return the rules of markup. They come first, since tags and links have addresses."""
    return [
        Rule(TAG, _say_tag),
        Rule(ENTITY, lambda found, language: html.unescape(found.group())),
        Rule(DEFINITION, say_nothing),
        Rule(FOOTNOTE, say_nothing),
        Rule(REFERENCE, lambda found, language: found[1]),
        Rule(LINK, say_nothing),
        Rule(AUTOLINK, _say_autolink),
        Rule(ESCAPE, lambda found, language: found[1]),
        Rule(SCENE_BREAK, say_nothing),
        Rule(TABLE_LINE, say_nothing),
        Rule(CELL, _say_cell),
        Rule(LINE_MARK, say_nothing),
        Rule(EMPHASIS, say_nothing),
    ]


def say_nothing(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Leave a match out."""
    return ""


def _say_tag(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return a space where a tag is all that separates two words, as in one<br>two."""
    before, behind = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    return " " if before.isalnum() and behind.isalnum() else ""


def _say_autolink(found: re.Match[str], language: SpokenLanguage) -> str | None:
    before = found.string[max(0, found.start() - 600) : found.start()]
    return "" if found.group() == "<" or IN_AUTOLINK.search(before) else None


def _say_cell(found: re.Match[str], language: SpokenLanguage) -> str | None:
    """Return a comma between two cells of a row that begins with a border."""
    text, start = found.string, found.string.rfind("\n", 0, found.start()) + 1
    if not text[start : start + 9].lstrip(" \t").startswith("|"):
        return None
    is_edge = found.start() == start or text[found.end() : found.end() + 1] in ("", "\n", "\r")
    return "" if is_edge else ", "
