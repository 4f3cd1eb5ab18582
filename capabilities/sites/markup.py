"""Markup: the pictures in a post's HTML as its author wrote it. Nothing but their `alt` is ever changed."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import Any
from urllib.parse import unquote, urlsplit

# Anybody may write a post: each pattern takes time in proportion to it, also where tags and quotes are not closed.
IMAGE = re.compile(r"<img\b(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"\s([\w:-]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+))?")
UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1>|\Z)|<!--.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL)
TAGS = re.compile(
    rf"{UNSEEN.pattern}|<[^\s<>](?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>|<[^\s<>][^<>]*+>", re.IGNORECASE | re.DOTALL
)
#: WordPress names a picture's smaller sizes photo-300x200.jpg, and the one that it shrank photo-scaled.jpg.
SIZE = re.compile(r"(?:-\d+x\d+|-scaled)(?=\.\w+$)")
#: The class that the block editor gives a picture of the media library.
NUMBER = re.compile(r"(?:^|\s)wp-image-(\d+)(?:\s|$)")
#: The picture behind a cover block repeats its `alt` in the block's comment; a change here alone breaks the block.
COVER = "wp-block-cover__image-background"
SUFFIX = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|tiff?|bmp|heic|svg)$", re.IGNORECASE)
#: Names that cameras and phones give, and programs that take pictures of the screen.
CAMERA_NAME = re.compile(
    r"(?:img|dsc[nf_]?|p|pic|pxl|image|photo|screen ?shot|whatsapp image)?[\W_]*\d[\d\W_]*(?:at|am|pm)?[\d\W_]*",
    re.IGNORECASE,
)
#: Elements that end a paragraph for a reader, and the blank lines that do in WordPress's old editor.
BLOCK_END = re.compile(
    r"</(?:p|div|h[1-6]|li|blockquote|figcaption|t[dhr]|pre|section|article)\s*>|<br\s*/?>|\n[ \t\r]*\n", re.IGNORECASE
)
#: A paragraph that is an address alone, which a program replaces by a video or a card.
ADDRESS = re.compile(r"(?:\[embed\])?https?://\S+", re.IGNORECASE)
HEADING = re.compile(r"<(h[23])\b[^<>]*>((?:(?!<h[23]\b).)*?)</\1\s*>", re.IGNORECASE | re.DOTALL)
#: Longest text that may be the name of a file.
MAX_FILE_NAME = 255
#: Characters of a post around a picture that a model is told, before and after it, and those of its HTML that are read.
CONTEXT = 600
REACH = 20_000


@dataclass(frozen=True, slots=True)
class Image:
    """An `<img>` of a post: its text, where it begins, and its attributes in lower case, unescaped."""

    text: str
    start: int
    attributes: Mapping[str, str]

    @property
    def alt(self) -> str | None:
        """Its alternative text; None where the attribute is missing."""
        return self.attributes.get("alt")

    @property
    def number(self) -> str | None:
        """Its number in the media library, if the editor has noted it."""
        found = NUMBER.search(self.attributes.get("class", ""))
        return found[1] if found else None

    @property
    def is_left_alone(self) -> bool:
        """True if its author, or its block, says that it needs no text."""
        return (
            self.attributes.get("role") in ("presentation", "none")
            or self.attributes.get("aria-hidden") == "true"
            or COVER in self.attributes.get("class", "")
        )

    def shows(self, target: str, url: str) -> bool:
        """Return whether it shows a picture of the media library, by its number or its file, in whatever size."""
        if self.number:
            return target == f"media/{self.number}"
        return bool(self.attributes.get("src")) and plain_url(self.attributes["src"]) == plain_url(url)

    def with_alt(self, alt: str) -> str:
        """Return the tag with another `alt`; the rest stays as it is."""
        written = escape(alt, quote=True)
        for found in ATTRIBUTE.finditer(self.text):
            if found[1].lower() == "alt":
                return f'{self.text[: found.start(1)]}{found[1]}="{written}"{self.text[found.end() :]}'
        return f'{self.text[:4]} alt="{written}"{self.text[4:]}'


def images(html: str) -> Iterator[Image]:
    """Yield the pictures of a post, in order."""
    for found in IMAGE.finditer(html):
        attributes: dict[str, str] = {}
        for one in ATTRIBUTE.finditer(found[0]):
            value = one[2] or ""
            if value[:1] in ("'", '"'):
                value = value[1:-1]
            attributes.setdefault(one[1].lower(), unescape(value))
        yield Image(found[0], found.start(), attributes)


def plain_url(url: str) -> str:
    """Return a picture's URL without its scheme, query and size, to compare."""
    host, path = _split(url.strip())
    return host.lower() + SIZE.sub("", unquote(path))


def file_name(url: str) -> str:
    """Return the name of a picture's file."""
    return unquote(_split(url)[1]).rpartition("/")[2]


def is_missing(alt: str | None, url: str = "") -> bool:
    """Return whether an alternative text says nothing: it is empty, or the name of a file."""
    text = (alt or "").strip()
    if len(text) > MAX_FILE_NAME:
        return False
    name = SUFFIX.sub("", text)
    if not text or CAMERA_NAME.fullmatch(name) or (name != text and " " not in name):
        return True
    stem = file_name(url).rpartition(".")[0]
    # A name of one word, such as Harbour for harbour.jpg, may have been meant.
    return bool(re.search(r"[\d_-]", stem)) and _letters(SIZE.sub("", stem)) == _letters(text)


def text_of(html: str) -> str:
    """Return the words of HTML, without its tags."""
    return " ".join(unescape(TAGS.sub(" ", html)).split())


def paragraphs_of(html: str) -> str:
    """Return the words of HTML, with a blank line between its paragraphs, headings and items.

    An address alone is left out."""
    parts = map(text_of, BLOCK_END.split(UNSEEN.sub(" ", html)))  # a script may have blank lines
    return "\n\n".join(part for part in parts if part and not ADDRESS.fullmatch(part))


def headings_of(html: str) -> list[str]:
    """Return the texts of the second and third level's headings."""
    return [text for found in HEADING.finditer(html) if (text := text_of(found[2]))]


def around(html: str, image: Image) -> str:
    """Return the words of a post before and after a picture."""
    end = image.start + len(image.text)
    before, after = text_of(html[max(0, image.start - REACH) : image.start]), text_of(html[end : end + REACH])
    return f"{before[-CONTEXT:]} {after[:CONTEXT]}".strip()


def fill_alts(html: str, texts: Mapping[str, tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the changes (old tag, new tag) that give a post's pictures texts where they have none, in their order.

    A tag that says so already is among them as (tag, tag). `texts` are (URL, text) by target."""
    pairs = [(image.text, _filled(image, texts)) for image in images(html)]
    changed = {new for old, new in pairs if new != old}
    return [pair for pair in pairs if pair[1] in changed]


def _filled(image: Image, texts: Mapping[str, tuple[str, str]]) -> str:
    if image.is_left_alone or not is_missing(image.alt, image.attributes.get("src", "")):
        return image.text
    text = next((text for target, (url, text) in texts.items() if image.shows(target, url)), None)
    return image.text if text is None or image.alt == text else image.with_alt(text)


def replaced(html: str, changes: Iterable[Sequence[str]]) -> str:
    """Return HTML with each old tag replaced by the new one."""
    for old, new in changes:
        html = html.replace(old, new)
    return html


def put_back(html: str, changes: Iterable[Sequence[str]]) -> str | None:
    """Return HTML with each new tag replaced by the old one; None if several old ones may have stood there."""
    stood: dict[str, list[str]] = {}
    for old, new in changes:
        stood.setdefault(new, []).append(old)
    for new, olds in stood.items():
        parts = html.split(new)
        if len(parts) - 1 != len(olds):
            if len(parts) > 1 and len(set(olds)) > 1:
                return None
            olds = olds[:1] * (len(parts) - 1)
        html = "".join(part + old for part, old in zip(parts, [*olds, ""], strict=True))
    return html


def is_same_text(now: Any, sent: Any) -> bool:
    """Return whether `now` may be what a site has made of what it was sent: it strips mark-up, and sorts names."""
    if isinstance(sent, list):
        return isinstance(now, list) and sorted(map(str.casefold, now)) == sorted(map(str.casefold, sent))
    return now == sent or (isinstance(now, str) and isinstance(sent, str) and _bare(now) == _bare(sent) > "")


def _split(url: str) -> tuple[str, str]:
    """Return the host and the path of a URL; one that can't be read, such as http://[site]/a.jpg, is all path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    return parts.netloc, parts.path


def _bare(text: str) -> str:
    # WordPress also takes percent-encoded characters away (sanitize_text_field).
    return re.sub(r"%[0-9a-f]{2}", "", text_of(text), flags=re.IGNORECASE)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().casefold()
