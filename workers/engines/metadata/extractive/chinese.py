"""Chinese: its words, which no space parts, found by how often they recur."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import regex

from workers.engines.metadata.extractive.words import Word
from workers.engines.metadata.languages import Language

#: Runs that are looked at, and pieces that can become words: enough for any post, and no more whatever is sent.
MOST_RUNS, MOST_WORDS = 4_000, 400

#: Stop words of one character that begin names as well: 小猫, 大学.
_IN_NAMES = frozenset("小大中本人地日年月")


def segmented(
    title: Sequence[Word | None], text: Sequence[Word | None], language: Language, cues: Iterable[str]
) -> tuple[list[Word | None], list[Word | None]]:
    """Return Chinese runs as words: those that recur and hold together, and the cues."""
    runs = [word.lower for word in [*title, *text] if word]
    known = set(cues) | _recurring(runs, language)
    return [list(_cut_up(part, known)) for part in (title, text)]  # type: ignore[return-value]


def _recurring(runs: Sequence[str], language: Language) -> set[str]:
    """Return pieces of two to four characters that recur, more often than their characters would meet by chance."""
    singles = Counter(character for run in runs for character in run)
    total = max(sum(singles.values()), 1)
    pieces: Counter[str] = Counter()
    for run in runs[:MOST_RUNS]:
        for length in (2, 3, 4):
            pieces.update(run[start : start + length] for start in range(len(run) - length + 1))
    # A piece that never stands but in a longer one is no word by itself.
    within = {part for piece, count in pieces.items() for part in (piece[1:], piece[:-1]) if count >= pieces[part] > 0}
    joining = language.stop - _IN_NAMES
    found: list[str] = []
    for piece, count in pieces.most_common():
        if count < 2 or len(found) == MOST_WORDS:
            break
        if piece in within or language.is_hollow(piece) or any(character in joining for character in piece):
            continue
        chance = math.prod(singles[character] / total for character in piece) * total
        if count > 3 * chance:
            found.append(piece)
    return set(found)


def _cut_up(words: Sequence[Word | None], known: set[str]) -> Iterator[Word | None]:
    pattern = "|".join(regex.escape(word) for word in sorted(known, key=len, reverse=True)) or r"(?!)"
    compiled = regex.compile(rf"{pattern}|[A-Za-z][\w+#.-]*")
    for word in words:
        if word is None:
            yield None
            continue
        for found in compiled.finditer(word.lower):
            yield Word(found.group(), found.group(), False)
            yield None
