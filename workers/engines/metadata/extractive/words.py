"""Words: a text as words, and the breaks between them."""

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from workers.engines.metadata.languages import UNSPACED, WORD, Language
from workers.engines.metadata.unwanted import ADDRESSES

_PIECE = regex.compile(rf"(?P<word>{WORD.pattern})|(?P<line>\n)|(?P<sign>[^\s\w])")

#: Ends of a sentence: what follows it starts with a capital letter in any case.
_SENTENCE_SIGNS = frozenset('.!?…:\n"“”«»„•—–-*¿¡؟।')

#: What French, Italian and Catalan write before a word that starts with a vowel.
_ELIDED = regex.compile(
    r"(?i)(l|d|j|qu|n|s|c|m|t|un|dell|all|dall|nell|sull|quest|quell|lorsqu|jusqu|puisqu|com|dov|cos)[’'](?=\w)"
)

#: From the word's start on: looking back from each apostrophe takes time by the square of a long word's length.
_TURKISH_ENDS = regex.compile(r"^(\p{Lu}.+?)[’'].*$")
_ENGLISH_ENDS = regex.compile(r"[’'](?:s|t|re|ve|ll|d|m)$", regex.IGNORECASE)

#: What a script without spaces writes its names with: the runs between what only joins them.
_JAPANESE = regex.compile(
    # Names that are made of verbs, such as 爪切り, are followed by a particle.
    r"[\p{Han}々]{2,4}[りみきしえけい](?=[のをがはにでとも、。])|[\p{Katakana}ー]{2,}[\p{Han}々]{0,6}|[\p{Han}々]{2,}(?:[\p{Katakana}ー]{2,}|(?![ぁ-んー])|(?=[のはがをにでともやへかなしさす]))|[A-Za-z][\w+#.-]*"
)
_CHINESE = regex.compile(r"\p{Han}+|[A-Za-z][\w+#.-]*")
_THAI = regex.compile(r"[\p{L}\p{M}\p{N}]+")


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it stands in a text, and whether it begins a sentence."""

    written: str
    lower: str
    is_first: bool

    @property
    def is_capital(self) -> bool:
        """Return whether it starts with a capital letter."""
        return self.written[:1].isupper()


def lowered(text: str, code: str) -> str:
    """Return a text in lower case; in Turkish the small letter of İ is i, and that of I is ı."""
    return (text.replace("İ", "i").replace("I", "ı") if code in ("tr", "az") else text).lower()


def words_of(text: str, language: Language) -> Iterator[Word | None]:
    """Yield the words of a text in order; None stands for what parts them: signs and ends of lines."""
    text = ADDRESSES.sub(" \n ", text)
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
        yield Word(written, lowered(written, language.code).replace("’", "'"), is_first)
        is_first = False


def _without_ending(word: str, code: str) -> str:
    """Return a word without what an apostrophe joins to its end: Anna's, İstanbul'da."""
    match code:
        case "en":
            return str(_ENGLISH_ENDS.sub("", word))
        case "tr":
            return str(_TURKISH_ENDS.sub(r"\1", word))
    return word


def _unspaced(text: str, code: str) -> Iterator[Word | None]:
    pattern = {"ja": _JAPANESE, "zh": _CHINESE}.get(code, _THAI)
    for found in pattern.finditer(text):
        yield Word(found.group(), found.group().lower(), False)
        yield None
