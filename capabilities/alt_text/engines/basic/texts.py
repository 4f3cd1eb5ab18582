"""Texts: lines that belong together, and which of them are quoted."""

import math
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from capabilities.alt_text.engines.basic.wording import LANGUAGES
from capabilities.alt_text.engines.text.cleaning import clean
from workers.engines.ocr import TextLine, rows_of
from workers.engines.prepared import Prepared
from workers.engines.tables import open_tables, write_tables

#: Marks of ownership and stock libraries, handles, e-mail and web addresses, wherever they stand.
MARK = re.compile(
    r"[©@]|\(c\)\s|\bcopyright\b|\ball rights reserved\b"
    r"|https?:|www\.|\w\.(?:com|org|net|info|io|co|de|fr|es|it|pt|uk|eu|br|mx|at|ch)\b"
    r"|\b(?:photo|image|picture|foto|crédito|credits?)(?: by| credit)?\s*:|\bphoto by\b"
    r"|\b(?:shutterstock|getty ?images|alamy|i?stockphoto|istock|adobe ?stock|dreamstime|depositphotos|123rf)\b"
    r"|\b(?:unsplash|pexels|pixabay|freepik|envato)\b",
    re.IGNORECASE,
)
#: A running text may name an address; a line as short as this, in characters, is nothing but the mark.
LONGEST_MARK = 60
#: How far from the left or right and from the upper or lower edge a text's middle is in a corner, as shares.
ASIDE, NEAR_EDGE = 0.28, 0.12
#: Text in a corner matters if its letters are as high as this share of the highest; or, alone, of the picture.
LARGE, LARGE_ALONE = 0.7, 0.09
LEAST_LETTERS = 3
#: The prepared file, and its table.
WORDS = "words"
WORD = re.compile(r"[^\W\d_]+")
#: A name of a file, or letters that are glued to digits (“50meter$”), are no words.
GLUED = re.compile(r"\S*(?:[^\W\d_]{3}\d|\d[^\W\d_]{3}|\w\.[^\W\d_]{2}|_)\S*")
#: Least share of a text's words that must be known; the others may be names, or misread.
MOSTLY_KNOWN = 0.75


def _load_words() -> Container[str]:
    from wordfreq import get_frequency_dict, get_frequency_list

    words = frozenset(word for language in LANGUAGES for word in get_frequency_dict(language, "small"))
    for remembered in (get_frequency_dict, get_frequency_list):
        remembered.cache_clear()  # 19 MB
    return words


def _write_words(words: Any, folder: Path) -> None:
    write_tables(folder / WORDS, {WORDS: dict.fromkeys(words, 1)})


#: The usual words of the languages that `basic` writes: a quarter of a million.
_words = Prepared[Container[str]](
    "words",
    version("wordfreq"),
    Path(__file__).read_text("utf-8"),
    *LANGUAGES,
    load=_load_words,
    write=_write_words,
    open=lambda folder: open_tables(folder / WORDS)[WORDS],
)


def known_share(texts: Iterable[str], page: frozenset[str] = frozenset()) -> float:
    """Return the share of words that are in a list or on the page, from 0 to 1; several ideograms count as known.

    Misread letters, leaves and glued captions of buttons are no words."""
    parted = [GLUED.subn(" ", text.casefold()) for text in texts]
    words = [word for text, _ in parted for word in WORD.findall(text) if _counts(word)]
    known = _words.get() if words else ()
    found: int = sum(_is_ideographic(word) or word in page or word in known for word in words)
    return found / max(len(words) + sum(glued for _, glued in parted), 1)


def _is_ideographic(word: str) -> bool:
    """Return whether a word is of several ideograms; one alone is often a misread symbol."""
    return len(word) > 1 and all(letter >= "\u3040" for letter in word)


def _counts(word: str) -> bool:
    return len(word) >= LEAST_LETTERS or word[0] >= "\u3040"


def without_marks(lines: Sequence[TextLine]) -> list[TextLine]:
    return [line for line in lines if len(line.text) > LONGEST_MARK or not MARK.search(line.text)]


def without_corners(lines: Sequence[TextLine]) -> list[TextLine]:
    """Return lines without small print in the corners: a watermark, a date, a page number."""
    tallest = max((line.height for line in lines), default=0.0)
    others = [line for line in lines if not _is_in_corner(line)]
    least = LARGE * tallest if others else max(LARGE * tallest, LARGE_ALONE)
    return [line for line in lines if not _is_in_corner(line) or line.height >= least]


def _is_in_corner(line: TextLine) -> bool:
    x, y = line.middle
    return min(x, 1 - x) < ASIDE and min(y, 1 - y) < NEAR_EDGE


#: Largest ratio of the heights of a block's lines, and largest gap between them, in heights.
ALIKE, NEAR = 1.35, 0.75
#: How far they may be from a common edge or centre, as a share of the width.
ALIGNED = 0.03
#: Shorter lines, in characters, are labels, unless the next line begins with a small letter.
WRAPPED = 20
#: Most numbers that are quoted; more are those of an axis, a calendar or a table, and mean nothing by themselves.
MOST_NUMBERS = 2
#: The weight of words that the page around the picture has too.
SHARED_WEIGHT = 2.0
#: A closing quotation mark is often read as an apostrophe; behind a full stop it can be nothing else.
STRAY = re.compile(r"(?<=[.!?…])['\"’”]+\Z")
#: Sizes of letters that differ by a smaller factor count as equal.
STEP = 1.4
#: A first line of this share of the largest letters' height may be the title; and the words of a phrase.
TITLE_SIZE, PHRASE = 0.85, 3
#: Most texts of a poster; a window or a diagram has more.
FEW = 4
#: Most texts of several words, such as a title and what it says further; a menu or a window has more.
MOST_TITLES = 2
#: A value as it is measured, or a time, in a text.
VALUE = re.compile(r"\d[.,:]\d")
#: Letters that are larger than all others by this ratio stand out.
LARGER = 1.15


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that are one text; `weight` says how conspicuous it is, `height` and `top` are shares of the picture's."""

    text: str
    score: float
    weight: float
    height: float
    top: float


def blocks_of(lines: Sequence[TextLine], page: frozenset[str] = frozenset()) -> list[Block]:
    """Return the blocks of text in the order of reading, without single letters, duplicates and what is no word.

    `page` has the words around the picture, in small letters."""
    groups: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: (line.top, line.left)):
        if line.is_upright or sum(map(str.isalnum, line.text)) < 2:
            continue
        home = next((group for group in groups if _continues(group[-1], line)), None)
        if home is None:
            groups.append([line])
        else:
            home.append(line)
    by_first = {group[0]: group for group in groups}
    blocks: dict[str, Block] = {}
    for row in rows_of(list(by_first)):
        for first in row:
            block = _block(by_first[first], page)
            if known_share([block.text], page) or _is_number(block.text):
                blocks.setdefault(block.text.casefold(), block)
    numbers = [block for block in blocks.values() if _is_number(block.text)]
    unwanted = numbers if len(numbers) > MOST_NUMBERS else []
    return [block for block in blocks.values() if block not in unwanted]


def stands_out(blocks: Sequence[Block]) -> bool:
    """Return whether texts say what a picture is about: one is larger than all others, or they are few and a phrase.

    Labels, such as those of an axis, a window or a diagram, are many and of one size."""
    worded = [block for block in blocks if not _is_number(block.text)]
    first, *others = sorted((block.height for block in worded), reverse=True) or [0.0]
    is_phrase = any(len(block.text.split()) >= PHRASE for block in worded) and len(worded) <= FEW
    return bool(worded) and (is_phrase or first >= LARGER * max(others, default=0.0))


def may_be_labels(lines: Sequence[TextLine], blocks: Sequence[Block]) -> bool:
    """Return whether texts may be of a legend, an axis or a menu: measured values, below numbers, or many."""
    numbers = [line.top for line in lines if _is_number(line.text)]
    is_below = len(numbers) > MOST_NUMBERS and min(block.top for block in blocks) > min(numbers)
    are_many = sum(" " in block.text for block in blocks) > MOST_TITLES
    return is_below or are_many or any(VALUE.search(block.text) for block in blocks)


def is_worded(blocks: Sequence[Block], page: frozenset[str]) -> bool:
    """Return whether the largest text is of several words, more than numbers, of ideograms, or also on the page.

    One word may be misread or a label; “500 meters” and “Height (m) 64.90 - 80.43” are of a scale and a legend."""
    largest = max(blocks, key=lambda block: round(block.height, 3)).text
    if page & set(largest.casefold().split()):
        return True
    words = [word for word in WORD.findall(largest) if len(word) > 1]
    return len(words) > max(1, len(re.findall(r"\d+", largest))) or any(letter >= "\u3040" for letter in largest)


def without_labels(blocks: Sequence[Block]) -> list[Block]:
    """Return texts without the single words below a title, such as buttons or the marks of an axis."""
    tallest = max((block.height for block in blocks), default=0.0)
    if not blocks or not _is_title(blocks, 0, tallest) or " " not in blocks[0].text:
        return list(blocks)
    return [block for block in blocks if " " in block.text or block.height >= LARGER * blocks[0].height]


def chosen(blocks: Sequence[Block], room: int, most: int, frame: int) -> list[str]:
    """Return the texts of the title and of the weightiest blocks that fit into `room` characters, as they are read.

    Each needs `frame` more characters for its quotation marks. If not even the first fits, it is cut."""
    tallest = max((block.height for block in blocks), default=0.0)
    taken: list[int] = []
    left = room
    for index in sorted(
        range(len(blocks)), key=lambda index: (not _is_title(blocks, index, tallest), -blocks[index].weight)
    ):
        cost = len(blocks[index].text) + frame
        if len(taken) < most and cost <= left:
            taken.append(index)
            left -= cost
        elif not taken:
            start = cut_at_word(blocks[index].text, room - frame)
            return [start] if start else []
    return [blocks[index].text for index in sorted(taken)]


def cut_at_word(text: str, room: int) -> str:
    """Return as many words as fit, with an ellipsis; "" when there is no room."""
    if len(text) <= room:
        return text
    if room < 8:
        return ""
    words = text[:room].rpartition(" ")[0]
    return (words if len(words) > room // 3 else text[: room - 1]).rstrip(" ,;:.-–—") + "…"


def _is_number(text: str) -> bool:
    return sum(map(str.isdigit, text)) > sum(map(str.isalpha, text))


def _is_title(blocks: Sequence[Block], index: int, tallest: float) -> bool:
    return index == 0 and blocks[0].height >= TITLE_SIZE * tallest


def _continues(above: TextLine, below: TextLine) -> bool:
    """Return whether a line continues the one above: near, as high, aligned, and that one does not end there."""
    tall, low = max(above.height, below.height), min(above.height, below.height)
    if tall > low * ALIKE or below.top - above.bottom > low * NEAR or below.middle[1] <= above.bottom - low / 2:
        return False
    if abs(above.left - below.left) > ALIGNED and abs(above.middle[0] - below.middle[0]) > ALIGNED:
        return False
    is_word = below.text[0].islower() and "@" not in below.text
    is_open = above.text[-1] not in ".!?:"
    return len(above.text) >= 2 * WRAPPED or (is_open and (is_word or len(above.text) >= WRAPPED))


def _block(group: Sequence[TextLine], page: frozenset[str]) -> Block:
    """Return lines as a block; large letters, and a place near the centre or the top, give it weight."""
    text = clean(" ".join(line.text for line in group))
    bare = STRAY.sub("", text)
    if bare.count('"') % 2 == 0 and bare.count("“") <= bare.count("”"):
        text = bare
    height, score = (sum(getattr(line, name) for line in group) / len(group) for name in ("height", "score"))
    x, y = group[0].middle
    # The heights of boxes around letters of one size differ by a fifth or so.
    size = STEP ** round(math.log(max(height, 1e-3), STEP))
    weight = size * (1 - 0.5 * (abs(x - 0.5) + y / 3))
    shared = page & set(text.casefold().split())
    return Block(text, score, weight * (SHARED_WEIGHT if shared else 1), height, group[0].top)
