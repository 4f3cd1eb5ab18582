"""Source: a post's content as HTML, without front matter, shortcodes and comments."""

import html
import json
import tomllib
from pathlib import Path

import regex

from capabilities.blog.engines.metadata.boilerplate import is_boilerplate

#: Most characters that are read of a source, of Markdown (whose parser reads 1 MB a second) and of front matter.
LONGEST_SOURCE, LONGEST_MARKDOWN, LONGEST_FRONT = 200_000, 60_000, 20_000

#: Signs and lines of Markdown above which it is read as text: the parser takes seconds for a line of brackets.
MOST_SIGNS = 6_000

#: Most callouts that are told from the text; more would nest deeper than HTML is read.
MOST_BESIDE = 100

#: Content is HTML when it starts with a tag or closes blocks; else it is Markdown, which may contain tags.
OPENS_WITH_TAG = regex.compile(r"\s*<(?:!doctype|[a-z][a-z0-9]*[\s/>])", regex.IGNORECASE)
CLOSED_BLOCK = regex.compile(r"</(?:p|div|ul|ol|section|article|h[1-6]|table|body|blockquote)\s*>", regex.IGNORECASE)

PARAGRAPH = regex.compile(r"<(?:p|br)[\s/>]", regex.IGNORECASE)

#: Line starts and links that only Markdown has.
MARKDOWN = regex.compile(r"(?m)^(?:#{1,6}[ \t]+\S|```|~~~)|\]\((?:https?:|/|#)")

_KNOWN = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

#: YAML, TOML, and lines of keys that a blank line ends (Pelican, MultiMarkdown).
_FRONT = regex.compile(
    rf"\A\s*(---|\+\+\+)[ \t]*\n.{{0,{LONGEST_FRONT}}}?(?:\n|(?<=\n))(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", regex.DOTALL
)
_KEYS = regex.compile(
    rf"\A\s*(?:(?:{'|'.join(_KNOWN['keys'].split())})[ \t]*:[^\n]{{0,500}}\n){{2,40}}\s*\n", regex.IGNORECASE
)

_COMMENTS = regex.compile(
    r"<!--.*?(?:-->|\Z)|\{/\*(?:(?!\{/\*).){0,4000}?\*/\}|\{#(?!\w[\w-]{0,60}\})(?:(?!\{#).){0,4000}?#\}", regex.DOTALL
)
_FOOTNOTES = regex.compile(r"(?m)^\[\^[^\]\n]{1,40}\]:.*$|\[\^[^\]\n]{1,40}\]")
_EMOJI_CODES = regex.compile(r"(?<![\w:]):[a-z][a-z0-9_+-]{1,30}:(?![\w:])")

#: Paired shortcodes by name: those around code and pictures, and callouts.
_NAMES = {kind: "|".join(_KNOWN[kind].split()) for kind in ("enclosing", "beside")}
_CLOSED = rf"(?P<name>{_NAMES['enclosing']})"
_PAIRS = tuple(
    regex.compile(pattern, regex.DOTALL | regex.IGNORECASE)
    for pattern in (
        # Hugo: {{< figure >}}…{{< /figure >}}; Jekyll: {% highlight %}…{% endhighlight %}; Zola: {% figure() %}…{% end
        rf"\{{\{{[<%]\s*{_CLOSED}\b[^{{}}]{{0,2000}}[>%]\}}\}}[^{{}}]{{0,20000}}\{{\{{[<%]\s*/\s*(?P=name)\s*[>%]\}}\}}",
        rf"\{{%-?\s*{_CLOSED}\b[^%]{{0,2000}}%\}}(?:(?!\{{%).){{0,20000}}\{{%-?\s*end(?P=name)?\s*-?%\}}",
        # WordPress: [caption id="a"]…[/caption].
        rf"\[{_CLOSED}\b[^\[\]]{{0,2000}}\](?:(?!\[/?(?P=name)).){{0,20000}}\[/(?P=name)\]",
    )
)
_OPENS_BESIDE = regex.compile(
    rf"\{{\{{[<%]\s*(?:{_NAMES['beside']})\b[^{{}}]{{0,2000}}(?<!/)[>%]\}}\}}"
    rf"|(?m:^[ \t]{{0,3}}:::+[ \t]*\{{?\.?(?:{_NAMES['beside']})\b[^\n]*$)",
    regex.IGNORECASE,
)
_CLOSES_BESIDE = regex.compile(
    rf"\{{\{{[<%]\s*/\s*(?:{_NAMES['beside']})\s*[>%]\}}\}}|(?m:^[ \t]{{0,3}}:::+[ \t]*$)", regex.IGNORECASE
)

_VALUE = r"(?>\"[^\"]{0,500}\"|'[^']{0,500}'|[^\s\]\"'][^\s\]]{0,300}+)"
_SHORTCODES = regex.compile(
    # Hugo, Liquid, Nunjucks, Handlebars; Zola's calls have braces in their arguments.
    r"\{\{[<%](?:(?!\{\{).){0,4000}?[>%]\}\}|\{\{[^{}]{0,2000}+\}\}|\{%(?:(?!\{%).){0,4000}?%\}"
    # WordPress: with attributes, a closing one, and without either one of several words: [et_pb_text].
    rf"|\[/?\w[\w-]{{0,40}}+(?:\s++[\w-]{{1,40}}+={_VALUE}){{1,40}}+\s*/?\]"
    r"|\[/[a-z][\w-]{0,40}\]|\[[a-z][a-z0-9]{0,20}(?:_[a-z0-9]{1,20}){1,6}\](?![(:])"
    rf"|\[(?:{'|'.join(_KNOWN['alone'].split())})\s*/?\](?![(\[:])",
    regex.DOTALL,
)
_MARKS = regex.compile(
    # Attribute lists of kramdown and Pandoc, and tables of contents.
    r"\{:[^{}\n]{0,300}\}|(?<=\S)[ \t]*\{[#.][\w-][^{}\n]{0,100}\}|(?mi:^[ \t]*\[\[?_?toc_?\]\]?[ \t]*$)"
    r"|(?m:^[ \t]*[*-][ \t]+TOC[ \t]*$(?=\n\{:))"
    # Pictures of Obsidian, imports of MDX, directives of reStructuredText.
    r"|!\[\[[^\[\]\n]{1,300}\]\]"
    r"|(?m:^(?:import[ \t][^\n]{1,200}[ \t]from[ \t]+['\"][^\n]{1,200}|export[ \t]+const[ \t][^\n]{1,500})$)"
    r"|(?m:^\.\.[ \t]+[\w-]{1,40}::[^\n]{0,300}(?:\n[ \t]+[^\n]{0,300}){0,20}$)"
)
_WIKI_LINK = regex.compile(r"\[\[(?:[^\[\]|\n]{1,300}\|)?([^\[\]|\n]{1,300})\]\]")


def as_html(content: str) -> str:
    """Return the content of a post as HTML, without front matter, shortcodes and comments."""
    content = content[:LONGEST_SOURCE].replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    content = _COMMENTS.sub(" ", _without_front_matter(content))
    for pair in _PAIRS:
        content = pair.sub(" ", content)
    is_html = _is_html(content)
    # Between blank lines, Markdown works inside an element.
    content = _OPENS_BESIDE.sub('\n\n<div class="callout">\n\n', content, count=MOST_BESIDE)
    content = _CLOSES_BESIDE.sub("\n\n</div>\n\n", content, count=MOST_BESIDE)
    content = without_shortcodes(content)
    if is_html:
        return content
    # A line break separates no paragraphs in Markdown, but it separates a credit from the line above.
    content = "\n".join("" if is_boilerplate(line) else line for line in content[:LONGEST_MARKDOWN].split("\n"))
    content = _WIKI_LINK.sub(r"\1", _MARKS.sub("", _FOOTNOTES.sub(" ", content)))
    return _markdown_as_html(_EMOJI_CODES.sub(" ", content))


def without_shortcodes(content: str) -> str:
    """Return the content of a post without the marks of shortcodes; what they enclose stays."""
    return str(_SHORTCODES.sub(" ", content))


def _is_html(content: str) -> bool:
    """Return whether content is HTML; Markdown may also open with a tag, such as a centred picture."""
    has_tags = OPENS_WITH_TAG.match(content) is not None or len(CLOSED_BLOCK.findall(content)) > 1
    paragraphs = len(PARAGRAPH.findall(content))
    return has_tags and len(MARKDOWN.findall(content[:LONGEST_MARKDOWN])) <= paragraphs


def _without_front_matter(content: str) -> str:
    start = content.lstrip("\ufeff \t\n")
    if start.startswith("{") and not start.startswith(("{{", "{%")):
        try:
            _, end = json.JSONDecoder().raw_decode(start[:LONGEST_FRONT])
        except (ValueError, RecursionError):
            return content
        return start[end:]
    return str(_KEYS.sub("", _FRONT.sub("", content.lstrip("\ufeff"), count=1), count=1))


def _markdown_as_html(content: str) -> str:
    if sum(map(content.count, "[*_`<|\n")) > MOST_SIGNS:
        return html.escape(regex.sub(r"[\[\]*_`#>|~]+", " ", content)).replace("\n", "<br>")
    # Here, since it takes 40 ms, and most content is HTML.
    from markdown_it import MarkdownIt

    # The default nesting of 100 takes seconds for a line of 100,000 brackets.
    parser = MarkdownIt("commonmark", {"maxNesting": 20}).enable(["table", "strikethrough"])
    return str(parser.render(content))
