"""Words: a text as words and the breaks between them; recurring characters make Chinese words."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import regex

from capabilities.blog.engines.metadata.unwanted import ADDRESSES
from workers.engines.languages.languages import UNSPACED, WORD, Language

_PIECE = regex.compile(rf"(?P<word>{WORD.pattern})|(?P<line>\n)|(?P<sign>[^\s\w])")

#: Handles of accounts.
_HANDLES = regex.compile(r"\S{0,60}@\S{0,60}")

#: Signs before a word that has a capital in any case.
_SENTENCE_SIGNS = frozenset('.!?…:\n"“”«»„•—–-*¿¡؟।')

#: French, Italian and Catalan words with an apostrophe.
_ELIDED = regex.compile(
    r"(?i)(l|d|j|qu|n|s|c|m|t|un|dell|all|dall|nell|sull|quest|quell|lorsqu|jusqu|puisqu|com|dov|cos)[’'](?=\w)"
)

#: Anchored at the word's start: looking back from each apostrophe takes quadratic time.
_TURKISH_ENDS = regex.compile(r"^(\p{Lu}.+?)[’'].*$")
_ENGLISH_ENDS = regex.compile(r"[’'](?:s|t|re|ve|ll|d|m)$", regex.IGNORECASE)

#: A Latin name among Japanese or Chinese characters has a capital.
_LATIN_NAME = r"(?=\w*[A-Z])[A-Za-z][\w+#.-]*"
#: Five words of another language are a quotation.
_LATIN_TEXT = regex.compile(r"(?:[A-Za-z][\w'’.,;-]{0,40}+[ \n]+){4,}+[A-Za-z][\w'’-]{0,40}+")
#: A noun ends before a sign, Katakana or a particle; before other Hiragana, characters begin a verb or an adjective.
_NOUN_END = r"(?:(?![ぁ-んー])|(?=[のはがをにでともやへか]))"
_JAPANESE = regex.compile(
    # Names that are made of verbs, such as 爪切り, are followed by a particle.
    r"[\p{Han}々]{2,4}[りみきしえけい](?=[のをがはにでとも、。])"
    rf"|[\p{{Katakana}}ー]{{2,}}+(?:[\p{{Han}}々]{{1,6}}+{_NOUN_END})?"
    rf"|(?<![0-9０-９])[\p{{Han}}々]{{2,}}+(?:[\p{{Katakana}}ー]{{2,}}+|{_NOUN_END})|{_LATIN_NAME}"
)
_CHINESE = regex.compile(rf"\p{{Han}}+|{_LATIN_NAME}")
_THAI = regex.compile(r"[\p{L}\p{M}\p{N}]+")

#: Most runs that are read, and most pieces that become words.
MOST_RUNS, MOST_WORDS = 4_000, 400

#: Runs that are segmented into words, at 1 ms for 10 runs.
MOST_SEGMENTED = 600

#: Stop words of one character that names have as well: 小猫, 大学.
_IN_NAMES = frozenset("小大中本人地日年月")


@dataclass(frozen=True, slots=True)
class PostWord:
    """A word as written, and whether it begins a sentence."""

    written: str
    lower: str
    is_first: bool

    @property
    def is_capital(self) -> bool:
        """Return whether it starts with a capital letter."""
        return self.written[:1].isupper()


def lowered(text: str, code: str) -> str:
    """Return a text in lower case; in Turkish İ becomes i, and I becomes ı."""
    return (text.replace("İ", "i").replace("I", "ı") if code in ("tr", "az") else text).lower()


def words_of(text: str, language: Language) -> Iterator[PostWord | None]:
    """Yield the words of a text, and None for signs and ends of lines."""
    text = _HANDLES.sub(" \n ", ADDRESSES.sub(" \n ", text))
    if language.code in UNSPACED:
        yield from _unspaced(text, language.code)
        return
    if language.code in ("fr", "it", "ca"):
        text = _ELIDED.sub(r"\1 ", text)
    is_first = True
    for found in _PIECE.finditer(text):
        piece = found.group()
        if found.lastgroup != "word":
            is_first = is_first or piece in _SENTENCE_SIGNS
            yield None
            continue
        written = _without_ending(piece, language.code) if "'" in piece or "’" in piece else piece
        yield PostWord(written, lowered(written, language.code).replace("’", "'"), is_first)
        is_first = False


def _without_ending(word: str, code: str) -> str:
    """Return a word without its ending behind an apostrophe: Anna's, İstanbul'da."""
    match code:
        case "en":
            return str(_ENGLISH_ENDS.sub("", word))
        case "tr":
            return str(_TURKISH_ENDS.sub(r"\1", word))
    return word


def _unspaced(text: str, code: str) -> Iterator[PostWord | None]:
    pattern = {"ja": _JAPANESE, "zh": _CHINESE}.get(code, _THAI)
    for found in pattern.finditer(_LATIN_TEXT.sub(" ", text)):
        yield PostWord(found.group(), found.group().lower(), False)
        yield None


def segmented(
    title: Sequence[PostWord | None], text: Sequence[PostWord | None], language: Language, cues: Iterable[str]
) -> tuple[list[PostWord | None], list[PostWord | None]]:
    """Return a Chinese title and text split into words: recurring sequences of characters, and cues."""
    runs = [word.lower for word in [*title, *text] if word]
    known = set(cues) | _recurring(runs, language)
    return [list(_cut_up(part, known)) for part in (title, text)]  # type: ignore[return-value]


def _recurring(runs: Sequence[str], language: Language) -> set[str]:
    """Return pieces of two to four characters that recur more often than by chance."""
    singles = Counter(character for run in runs for character in run)
    total = max(sum(singles.values()), 1)
    pieces: Counter[str] = Counter()
    for run in runs[:MOST_RUNS]:
        for length in (2, 3, 4):
            pieces.update(run[start : start + length] for start in range(len(run) - length + 1))
    # A piece that only occurs within a longer one is no word.
    within = {part for piece, count in pieces.items() for part in (piece[1:], piece[:-1]) if count >= pieces[part] > 0}
    joining = language.stop - _IN_NAMES
    begun = _begun_late(runs)
    found: list[str] = []
    for piece, count in pieces.most_common():
        if count < 2 or len(found) == MOST_WORDS:
            break
        if piece in within or language.is_empty_word(piece) or any(character in joining for character in piece):
            continue
        # 两座古城: the word begins behind 座.
        if 2 * begun[piece] > count:
            continue
        chance = math.prod(singles[character] / total for character in piece) * total
        if count > 3 * chance:
            found.append(piece)
    return set(found)


def _begun_late(runs: Sequence[str]) -> Counter[str]:
    """Return how often a word begins at the second character of each piece of two to four characters."""
    late: Counter[str] = Counter()
    parser = _segmenter()
    for run in runs[:MOST_SEGMENTED]:
        start = 0
        for word in parser.parse(run):
            if start:
                ends = range(start + 1, min(start + 3, len(run)) + 1)
                late.update(run[start - 1 : end] for end in ends)
            start += len(word)
    return late


@cache
def _segmenter() -> Any:
    import budoux

    return budoux.load_default_simplified_chinese_parser()


def _cut_up(words: Sequence[PostWord | None], known: set[str]) -> Iterator[PostWord | None]:
    pattern = "|".join(regex.escape(word) for word in sorted(known, key=len, reverse=True)) or r"(?!)"
    compiled = regex.compile(rf"{pattern}|[A-Za-z][\w+#.-]*")
    for word in words:
        if word is None:
            yield None
            continue
        for found in compiled.finditer(word.lower):
            yield PostWord(found.group(), found.group(), False)
            yield None
