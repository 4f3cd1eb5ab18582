"""Alignment: which phonemes of a sentence belong to which word."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate

import numpy as np

#: A word, for times: text between spaces. Han, kana and Thai have none, so a whole run of them is a word.
WORD = re.compile(r"\S*\w\S*")
#: Signs between the phonemes of two words.
BETWEEN = ' ,.;:!?—…"“”()«»'


@dataclass(frozen=True, slots=True)
class WordPhonemes:
    """`text[start:end]` is spoken as `phonemes[first:last]` of its sentence."""

    start: int
    end: int
    first: int
    last: int


def find_words(text: str) -> list[tuple[int, int]]:
    """Return the starts and ends of the words of a text."""
    return [match.span() for match in WORD.finditer(text)]


def align(words: Sequence[tuple[int, int]], alone: Sequence[str], phonemes: str) -> list[WordPhonemes]:
    """Return the phonemes of each word in a sentence.

    `alone` has the phonemes of each word spoken by itself. In a sentence some run together (of the: ʌvðə) or change, so
    both are aligned where they are most alike."""
    borders = _borders(alone, phonemes)
    aligned = []
    for (start, end), first, last in zip(words, borders, borders[1:], strict=False):
        # A space, or a comma, between two words belongs to neither.
        while first < last and phonemes[first] in BETWEEN:
            first += 1
        while last > first and phonemes[last - 1] in BETWEEN:
            last -= 1
        if last > first:
            aligned.append(WordPhonemes(start, end, first, last))
    return aligned


def _borders(alone: Sequence[str], phonemes: str) -> list[int]:
    """Return where each word begins in the sentence's phonemes, and where the last one ends."""
    blocks = SequenceMatcher(None, " ".join(alone), phonemes, autojunk=False).get_matching_blocks()
    # The ends of the pieces that both have; a place between them is interpolated.
    known = [(0, 0), *((block.a + end, block.b + end) for block in blocks for end in (0, block.size))]
    *starts, _ = accumulate((len(word) + 1 for word in alone), initial=0)
    ours, theirs = np.array(known).T
    return [*np.rint(np.interp(starts, ours, theirs)).astype(int).tolist(), len(phonemes)]
