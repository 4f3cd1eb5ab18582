"""Incidental texts: marks of ownership, addresses and small print in a corner, which say nothing of the subject."""

import re
from collections.abc import Sequence

from workers.engines.ocr import TextLine

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
#: Letters of the shortest word.
LEAST_LETTERS = 3
#: A vowel, and no six consonants on end, as misread leaves and fabric have.
PRONOUNCED = re.compile(r"^(?!.*[bcdfghjklmnpqrstvwxz]{6}).*[aeiouyà-æè-ïò-öø-ýœ]", re.IGNORECASE)
#: Captions of buttons or of a legend, read as one: letters turn from small to capital twice in a word.
GLUED = re.compile(r"[^\W\d_]*[a-zà-ÿ][A-ZÀ-Þ][^\W\d_]*[a-zà-ÿ][A-ZÀ-Þ]")


def is_mark(text: str) -> bool:
    return bool(MARK.search(text))


def is_word(text: str) -> bool:
    """Return whether a text has a word, with a vowel as in Latin languages, and not only letters of a key.

    One ideogram may be a word."""
    return any(
        (sum(map(str.isalpha, word)) >= LEAST_LETTERS and PRONOUNCED.search(word))
        or any(letter >= "\u3040" for letter in word)
        for word in text.split()
    )


def without_marks(lines: Sequence[TextLine]) -> list[TextLine]:
    return [line for line in lines if len(line.text) > LONGEST_MARK or not is_mark(line.text)]


def without_corners(lines: Sequence[TextLine]) -> list[TextLine]:
    """Return lines without small print in the corners: a watermark, a date, a page number."""
    tallest = max((line.height for line in lines), default=0.0)
    others = [line for line in lines if not _is_in_corner(line)]
    least = LARGE * tallest if others else max(LARGE * tallest, LARGE_ALONE)
    return [line for line in lines if not _is_in_corner(line) or line.height >= least]


def _is_in_corner(line: TextLine) -> bool:
    x, y = line.middle
    return min(x, 1 - x) < ASIDE and min(y, 1 - y) < NEAR_EDGE
