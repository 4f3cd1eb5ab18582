"""Passages: the parts of a chapter that are spoken apart, with their prices."""

import re
from collections.abc import Iterator

from capabilities.audiobooks.kinds.cast import TAG, TAG_CHARACTERS, carried

#: Characters of a passage: about two minutes, which is what a lost machine costs.
PASSAGE_CHARACTERS = 2_000
BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")
SENTENCE_END = re.compile(r"[.!?…]['\"”’»)\]]*\s+|[。！？]")


def passages_of(text: str) -> Iterator[str]:
    """Yield a text in passages of whole paragraphs; a longer paragraph is cut where a sentence ends.

    A tag that is open at the end of a passage is closed there, and opened again in the next."""
    return carried(_uncarried(text))


def _uncarried(text: str) -> Iterator[str]:
    passage = ""
    paragraphs = (paragraph.strip() for paragraph in BLANK_LINES.split(text) if paragraph.strip())
    for piece in (piece for paragraph in paragraphs for piece in _pieces(paragraph)):
        if passage and len(passage) + len(piece) + 2 > PASSAGE_CHARACTERS:
            yield passage
            passage = ""
        passage = f"{passage}\n\n{piece}" if passage else piece
    if passage:
        yield passage


def _pieces(paragraph: str) -> Iterator[str]:
    while len(paragraph) > PASSAGE_CHARACTERS:
        # No cut is within a tag, and no more is read than may be cut.
        window = paragraph[: PASSAGE_CHARACTERS + TAG_CHARACTERS]
        head = TAG.sub(lambda tag: "_" * len(tag[0]), window)[:PASSAGE_CHARACTERS]
        ends = [found.end() for found in SENTENCE_END.finditer(head)]
        at = ends[-1] if ends else head.rfind(" ") + 1 or PASSAGE_CHARACTERS
        at = next((tag.start() for tag in TAG.finditer(window) if tag.start() < at < tag.end()), at)
        yield paragraph[:at].strip()
        paragraph = paragraph[at:].strip()
    if paragraph:
        yield paragraph


def prices_of(lengths: list[int], per_credit: int) -> list[int]:
    """Return the price of each passage: many short ones cost no more than one long text."""
    prices, characters, paid = [], 0, 0
    for length in lengths:
        characters += length
        due = -(-characters // per_credit)
        prices.append(due - paid)
        paid = due
    return prices
