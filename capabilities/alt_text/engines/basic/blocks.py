"""Blocks: lines of text that belong together, with a weight for how conspicuous they are."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from capabilities.alt_text.engines.basic.genres import Genre
from capabilities.alt_text.engines.basic.incidental import is_mark, is_word
from capabilities.alt_text.engines.basic.numbers import value_of
from capabilities.alt_text.engines.text.cleaning import clean
from capabilities.alt_text.engines.text.shaping import split_sentences
from workers.engines.ocr import TextLine, rows_of

#: Largest ratio of the heights of a block's lines, and largest gap between them, in heights.
ALIKE, NEAR = 1.35, 0.75
#: How far they may be from a common edge or centre, as a share of the width.
ALIGNED = 0.03
#: Shorter lines, in characters, are labels, unless the next line begins with a small letter.
WRAPPED = 20
#: The weight of a number alone, compared with words: a clock in a corner does not matter.
NUMBER_WEIGHT = 0.3
#: A closing quotation mark is often read as an apostrophe; behind a full stop it can be nothing else.
STRAY = re.compile(r"(?<=[.!?…])['\"’”]+\Z")
#: Sizes of letters that differ by a smaller factor count as equal.
STEP = 1.4
#: Genres that may have a title, and the least ratio of its height to that of all other text. In the others it is named
#: first, and not called a title.
TITLED: dict[Genre, float] = {"chart": 0.85, "document": 1.2}
HEADED: dict[Genre, float] = {"graphic": 1.2, "picture": 1.2, "photo": 1.2, "logo": 1.0, "screenshot": 1.15}
#: Letters of a badge.
LONGEST_BADGE = 4
#: A chart's title that is no larger than its labels stands over the middle of the plot: half of it, as a share.
OVER_PLOT = 0.15
#: Letters that are larger than the labels by this ratio are no label.
LARGER = 1.25
#: What the label of an axis ends in: a unit.
UNIT = re.compile(r"[(\[][^()\[\]]{1,20}[)\]]\Z|\bin [%€$£]\Z|[%€$£]\Z")
#: Most characters of a title, and how far down it may begin, as a share of the height.
LONGEST_TITLE, LOWEST_TITLE = 80, 0.3


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that are one text; `weight` says how conspicuous it is."""

    text: str
    score: float
    weight: float
    #: Of its letters, as a share of the picture's.
    height: float = 0.0
    #: Where it begins, as a share of the picture's height, and its sides, as shares of the width.
    top: float = 0.0
    left: float = 0.0
    right: float = 0.0


def quotable(lines: Sequence[TextLine], genre: Genre) -> tuple[list[Block], Block | None]:
    """Return the texts to quote, in the order of reading, and which of them is the title, or is to be named first.

    Of a document they are its sentences. Of a chart or a table numbers are left out: without their axis, row and column
    they mean nothing."""
    blocks = blocks_of([line for line in lines if not line.is_upright])
    worded = [block for block in blocks if value_of(block.text) is None]
    title = _title(worded, genre, [line for line in lines if value_of(line.text) is not None])
    if genre == "document":
        running = split_sentences(" ".join(block.text for block in blocks if block is not title))
        sentences = [replace(blocks[0], text=sentence) for sentence in running]
        return [title, *sentences] if title else sentences, title
    if genre not in ("chart", "table"):
        return blocks, _heading(worded, genre)
    named = [block for block in worded if sum(map(str.isalpha, block.text)) > 1 and not block.text[0].isdigit()]
    if genre == "table":
        # Its first words name the columns, or what stands in the first row.
        named = [replace(block, weight=1 / place) for place, block in enumerate(named, 1)]
    return named, title


def blocks_of(lines: Sequence[TextLine]) -> list[Block]:
    """Return the blocks of text in the order of reading, without single letters and duplicates."""
    groups: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: (line.top, line.left)):
        if sum(map(str.isalnum, line.text)) < 2:
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
            block = _block(by_first[first])
            if block.text:
                blocks.setdefault(block.text.casefold(), block)
    return list(blocks.values())


def chosen(blocks: Sequence[Block], room: int, most: int, frame: int, heading: Block | None = None) -> list[str]:
    """Return the texts of the weightiest blocks that fit into `room` characters, the heading first.

    The others come in the order of reading. Each needs `frame` more characters for its quotation marks. If
    not even the weightiest fits, it is cut."""
    taken: list[int] = []
    left = room
    for index in sorted(range(len(blocks)), key=lambda index: (blocks[index] is not heading, -blocks[index].weight)):
        cost = len(blocks[index].text) + frame
        if len(taken) < most and cost <= left:
            taken.append(index)
            left -= cost
        elif not taken:
            start = cut_at_word(blocks[index].text, room - frame)
            return [start] if start else []
    return [blocks[index].text for index in sorted(taken, key=lambda index: (blocks[index] is not heading, index))]


def cut_at_word(text: str, room: int) -> str:
    """Return as many words as fit, with an ellipsis; "" when there is no room."""
    if len(text) <= room:
        return text
    if room < 8:
        return ""
    words = text[:room].rpartition(" ")[0]
    return (words if len(words) > room // 3 else text[: room - 1]).rstrip(" ,;:.-–—") + "…"


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


def _block(group: Sequence[TextLine]) -> Block:
    """Return lines as a block; large letters, and a place near the centre or the top, give it weight."""
    text = clean(" ".join(line.text for line in group))
    bare = STRAY.sub("", text)
    if bare.count('"') % 2 == 0 and bare.count("“") <= bare.count("”"):
        text = bare
    height, score = (sum(getattr(line, name) for line in group) / len(group) for name in ("height", "score"))
    x, y = group[0].middle
    # The heights of boxes around letters of one size differ by a fifth or so.
    size = STEP ** round(math.log(max(height, 1e-3), STEP))
    weight = size * (1 - 0.5 * (abs(x - 0.5) + y / 3)) * (1 if any(map(str.isalpha, text)) else NUMBER_WEIGHT)
    sides = min(line.left for line in group), max(line.right for line in group)
    return Block(text, score, weight, height, group[0].top, *sides)


def _heading(worded: Sequence[Block], genre: Genre) -> Block | None:
    """Return the words in the largest letters, if they stand out; a brand or a headline is in no other."""
    words = [block for block in worded if is_word(block.text) and not is_mark(block.text)]
    if genre == "screenshot":
        # A badge such as NEW is set in a box that is read as a part of its letters.
        words = [block for block in words if sum(map(str.isalpha, block.text)) > LONGEST_BADGE]
    if genre not in HEADED or not words:
        return None
    largest = max(words, key=lambda block: block.height)
    others = max((block.height for block in worded if block is not largest), default=0)
    return largest if largest.height >= HEADED[genre] * others else None


def _title(worded: Sequence[Block], genre: Genre, numbers: Sequence[TextLine]) -> Block | None:
    """Return the title: the first words, if they are in the largest letters or stand alone over running text."""
    if genre not in TITLED or not worded:
        return None
    first, *others = worded
    if (
        is_mark(first.text)
        or not is_word(first.text)
        or (genre == "chart" and not _is_over_plot(first, others, numbers))
    ):
        return None
    is_larger = first.height >= TITLED[genre] * max((block.height for block in others), default=0)
    is_apart = genre == "document" and bool(others) and len(others[0].text) > LONGEST_TITLE
    is_heading = is_larger or (is_apart and first.text[-1] not in ".!?…:,;")
    return first if is_heading and len(first.text) <= LONGEST_TITLE and first.top <= LOWEST_TITLE else None


def _is_over_plot(first: Block, others: Sequence[Block], numbers: Sequence[TextLine]) -> bool:
    """Return whether the first words of a chart stand over all of it, and are no label of an axis."""
    labels = [*(block.height for block in others), *(line.height for line in numbers if not line.is_upright)]
    is_larger = first.height >= LARGER * max(labels, default=0)
    if UNIT.search(first.text) or any(line.top < first.top + first.height for line in numbers):
        return False
    sides = [side for block in others for side in (block.left, block.right)]
    sides += [side for line in numbers for side in (line.left, line.right)]
    middle = (min(sides, default=0.0) + max(sides, default=1.0)) / 2
    return is_larger or abs((first.left + first.right) / 2 - middle) <= OVER_PLOT
