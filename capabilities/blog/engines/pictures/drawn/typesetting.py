"""Typesetting: a title as large as its box allows, in even lines, with its ink at the margins."""

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from PIL import Image, ImageDraw

from capabilities.blog.engines.pictures.drawn.breaking import broken, line_of, pieces_of
from capabilities.blog.engines.pictures.drawn.canvas import WIDTH
from capabilities.blog.engines.pictures.drawn.colours import Colour
from capabilities.blog.engines.pictures.drawn.fonts import Face, can_shape, sized

#: The size for measuring words; widths grow with the size.
REFERENCE = 100

#: Distance of lines, in sizes; more for tall letters.
LEADING = 1.14


@dataclass(frozen=True, slots=True)
class Box:
    """The place of a title, in pixels from the top left."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def mirrored(self) -> "Box":
        return replace(self, left=WIDTH - self.right, right=WIDTH - self.left)


@dataclass(frozen=True, slots=True)
class TypesetPage:
    """The layout of a title: `across` is start or centre; `down` is top, middle or bottom; sizes in pixels."""

    box: Box
    ink: Colour
    across: str = "start"
    down: str = "top"
    largest: int = 92
    smallest: int = 34
    lines: int = 5
    bar: Colour | None = None  #: the colour of a short bar above the title


@dataclass(frozen=True, slots=True)
class Script:
    """The font, language and direction (ltr or rtl) of a text."""

    face: Face
    language: str | None
    direction: str

    def options(self) -> dict[str, Any]:
        """Return Pillow's options, which it only takes with shaping."""
        return {"direction": self.direction, "language": self.language} if can_shape() else {}

    def drawn(self, size: float) -> dict[str, Any]:
        return {"anchor": "ls", "stroke_width": self.face.thicker * size, **self.options()}


@dataclass(frozen=True, slots=True)
class Title:
    """A title broken into lines; `rise` and `fall`: ink above and below a base line."""

    lines: tuple[str, ...]
    script: Script
    size: int
    leading: float
    rise: float
    fall: float

    @property
    def height(self) -> float:
        return self.rise + self.leading * (len(self.lines) - 1) + self.fall


def is_right_to_left(text: str) -> bool:
    """Return whether the first letter with a direction is written from right to left."""
    classes = (unicodedata.bidirectional(character) for character in text)
    return next((name for name in classes if name in ("L", "R", "AL")), "L") != "L"


def typeset(text: str, face: Face, page: TypesetPage, language: str) -> Title:
    """Return a title that fits its page, shortened at a word's end if necessary."""
    tag = language if re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", language) else None
    script = Script(face, tag, "rtl" if is_right_to_left(text) else "ltr")
    # About twice what fits in the smallest size.
    text = _shortened(text, round(4 * page.lines * page.box.width / page.smallest))
    low, high = 0, len(text)
    title = _largest(text, script, page)
    if title.size >= page.smallest:
        return title
    while low < high:
        middle = (low + high + 1) // 2
        title = _largest(_shortened(text, middle), script, page)
        low, high = (middle, high) if title.size >= page.smallest else (low, middle - 1)
    return _largest(_shortened(text, max(1, low)), script, page)


def draw(image: Image.Image, title: Title, page: TypesetPage) -> None:
    brush, font, box = ImageDraw.Draw(image), sized(title.script.face, title.size), page.box
    slack = box.height - title.height
    shift = {"top": 0.0, "middle": slack / 2, "bottom": slack}[page.down]
    if page.bar is not None:
        left, top = box.right - 72 if title.script.direction == "rtl" else box.left, box.top + shift - 44
        brush.rectangle((left, top, left + 71, top + 8), fill=page.bar)
    base = box.top + title.rise + shift
    for line in title.lines:
        left, right = _edges(line, title)
        if page.across == "centre":
            x = (box.left + box.right - right - left) / 2
        else:
            x = box.right - right if title.script.direction == "rtl" else box.left - left
        brush.text((x, base), line, fill=page.ink, font=font, **title.script.drawn(title.size))
        base += title.leading


def _edges(line: str, title: Title) -> tuple[float, float]:
    """Return where a line's ink begins and ends: by the advance, large letters would look indented."""
    font = sized(title.script.face, title.size)
    options = title.script.drawn(title.size)
    left = font.getbbox(line, **options)[0]
    # Pillow's box ends at the advance, so the mask is measured.
    ink = font.getmask(line, **options).getbbox()
    return (left + ink[0], left + ink[2]) if ink else (left, left)


def _shortened(text: str, length: int) -> str:
    """Return the first `length` characters of a text, cut at a word's end if one is near."""
    if length >= len(text):
        return text
    head = text[:length]
    edge = head.rfind(" ")
    if edge > length * 0.6:
        head = head[:edge]
    while head and (unicodedata.combining(head[-1]) or not head[-1].isalnum()) and len(head) > 1:
        head = head[:-1]
    return head + "…"


def _largest(text: str, script: Script, page: TypesetPage) -> Title:
    """Return the title as large as possible in any number of lines, maybe smaller than `smallest`."""
    # A word stays whole unless the title would get much smaller.
    comfortable = max(page.smallest, 0.55 * page.largest)
    fits = lambda part: _width(part, script) * comfortable <= page.box.width  # noqa: E731
    pieces = pieces_of(text, script.language or "", fits)
    _, top, _, bottom = sized(script.face, REFERENCE).getbbox(text, **script.drawn(REFERENCE))
    rise, fall = -top / REFERENCE, bottom / REFERENCE
    leading = max(LEADING, (rise + fall) * 1.06)
    best, best_score = None, 0.0
    for ends in broken(pieces, [_width(piece.text, script) for piece in pieces], _width(" ", script), page.lines):
        lines = [line_of(pieces, start, end) for start, end in pairwise([0, *ends])]
        widths = [max(_width(line, script), 0.01) for line in lines]
        room = page.box.height / (rise + fall + leading * (len(lines) - 1))
        size = min(page.largest, room, page.box.width / max(widths))
        score = size * _beauty(widths)
        if score > best_score * 1.02:
            best, best_score = (lines, size), score
    assert best is not None, "a text has at least one piece"  # noqa: S101  # settable() gives no empty title
    lines, size = best
    whole = int(size)
    # Ink may exceed the advance, and small sizes are rounded.
    while whole > 8 and _ink(lines, script, whole) > page.box.width:
        whole -= 1
    return Title(tuple(lines), script, whole, leading * whole, rise * whole, fall * whole)


@lru_cache(maxsize=4096)
def _width(text: str, script: Script) -> float:
    """Return a text's width, in sizes; kept, as typesetting measures each word many times."""
    return float(sized(script.face, REFERENCE).getlength(text, **script.options())) / REFERENCE


def _beauty(widths: list[float]) -> float:
    """Return the beauty of lines, 0 to 1: best are few even ones without a short last one."""
    even = sum(widths) / len(widths) / max(widths)
    widow = 0.92 if len(widths) > 1 and widths[-1] < 0.45 * max(widths) else 1.0
    return float(even**0.35) * 0.95 ** (len(widths) - 1) * widow


def _ink(lines: list[str], script: Script, size: int) -> float:
    boxes = (sized(script.face, size).getbbox(line, **script.drawn(size)) for line in lines)
    return max(right - left for left, _, right, _ in boxes)
