"""Breaking: line breaks in titles."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
KANA, THAI = re.compile(r"[\u3040-\u30ff]"), re.compile(r"[\u0e00-\u0e7f]")

#: Signs that no line may begin or end with (from JIS X 4051, Western and Thai usage).
NOT_FIRST = frozenset("、。，．・：；？！ー々…％）」』】〕》〉’”!?,.:;)]}»%ぁぃぅぇぉっゃゅょァィゥェォッャュョๆฯ")
NOT_LAST = frozenset("（「『【〔《〈‘“([{«¿¡")

#: The parts of a compound or an address, each with its last sign.
JOINTS = re.compile(r"[^-/–—.@_?&=]*[-/–—.@_?&=]+|[^-/–—.@_?&=]+")

#: Most letters of words that should not end a line.
CLINGING = 3


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a title that stays in one line."""

    text: str
    glue: str = " "  # before it within a line: a space or nothing
    hyphen: bool = False  # whether a line that ends before it gets one


def pieces_of(text: str, language: str, fits: Callable[[str], bool]) -> list[Piece]:
    """Return a text's pieces; a word wider than a line is hyphenated or cut."""
    pieces: list[Piece] = []
    for word in text.split():
        parts = _phrases(word, language) if UNSPACED.search(word) else [word]
        for index, part in enumerate(parts):
            glue = " " if index == 0 and pieces else ""
            pieces += [Piece(part, glue)] if fits(part) else _cut(part, glue, language, fits)
    return pieces


def broken(pieces: Sequence[Piece], widths: Sequence[float], space: float, most: int) -> list[list[int]]:
    """Return the ends of the lines, as indices of pieces, for each number of lines up to `most`.

    The least sum of the cubed widths makes lines even. A last line of one short word, and short words at a line's end,
    cost extra."""
    count = len(pieces)
    total = sum(widths)
    never: tuple[float, list[int]] = (float("inf"), [])
    ways = [[(0.0, list[int]()), *[never] * count]]
    for _ in range(min(most, count)):
        before, now = ways[-1], [never]
        for end in range(1, count + 1):
            best, width = never, 0.0
            for start in range(end - 1, -1, -1):
                width += widths[start] + (space if start < end - 1 and pieces[start + 1].glue else 0.0)
                if width**3 >= best[0]:
                    break  # even longer lines cost even more
                cost = before[start][0] + _cost(pieces, start, end, width, total)
                if cost < best[0]:
                    best = (cost, [*before[start][1], end])
            now.append(best)
        ways.append(now)
    return [way[count][1] for way in ways[1:] if way[count][1]]


def line_of(pieces: Sequence[Piece], start: int, end: int) -> str:
    text = pieces[start].text + "".join(piece.glue + piece.text for piece in pieces[start + 1 : end])
    return text + ("-" if end < len(pieces) and pieces[end].hyphen else "")


def _cost(pieces: Sequence[Piece], start: int, end: int, width: float, total: float) -> float:
    cost = width**3
    if end == len(pieces) and start > 0 and end - start == 1 and width < total / (3 * max(2, start)):
        cost += (total / 3) ** 3
    last = pieces[end - 1].text
    if end < len(pieces):
        if pieces[end].hyphen:
            cost += (total / 6) ** 3
        elif len(last) <= CLINGING and last.isalpha() and pieces[end].glue:
            cost += (total / 12) ** 3
    return cost


def _phrases(word: str, language: str) -> list[str]:
    is_traditional = re.search(r"(?i)-(tw|hk|mo|hant)", language) is not None
    name = "traditional_chinese" if is_traditional else "simplified_chinese"
    if KANA.search(word) or language.startswith("ja"):
        name = "japanese"
    parser = _parser("thai" if THAI.search(word) else name)
    phrases: list[str] = []
    for phrase in parser.parse(word):
        if phrases and phrase[0] in NOT_FIRST:
            phrases[-1] += phrase
        else:
            phrases.append(phrase)
    return phrases


def _cut(word: str, glue: str, language: str, fits: Callable[[str], bool]) -> list[Piece]:
    if UNSPACED.search(word):
        return [Piece(part, glue if index == 0 else "") for index, part in enumerate(_clusters(word))]
    pieces = []
    for part in JOINTS.findall(word):
        cuts = [0, len(part)] if fits(part) else [0, *_hyphens(part, language, fits), len(part)]
        pieces += [Piece(part[start:end], hyphen=start > 0) for start, end in pairwise(cuts)]
    return [replace(piece, glue=glue if index == 0 else "") for index, piece in enumerate(pieces)]


def _hyphens(word: str, language: str, fits: Callable[[str], bool]) -> list[int]:
    positions = [place for place in _hyphenator(language)(word) if 2 <= place <= len(word) - 3]
    if positions:
        return positions
    longest = max(1, bisect_left(range(1, len(word)), True, key=lambda size: not fits(word[:size] + "-")))
    lines = -(-len(word) // longest)
    return [round(len(word) * line / lines) for line in range(1, lines)]


def _clusters(word: str) -> list[str]:
    """Return the characters of a Japanese or Chinese word, each with the signs that stay with it."""
    clusters: list[str] = []
    for character in word:
        if clusters and (character in NOT_FIRST or clusters[-1][-1] in NOT_LAST or THAI.match(character)):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


@lru_cache
def _parser(language: str) -> Any:
    import budoux

    return getattr(budoux, f"load_default_{language}_parser")()


@lru_cache(maxsize=32)
def _hyphenator(language: str) -> Callable[[str], Sequence[int]]:
    """Return a function for the places of hyphens in words of a language, if any are known."""
    import pyphen

    code = pyphen.language_fallback(language.replace("-", "_"))
    return pyphen.Pyphen(lang=code).positions if code else lambda word: ()
