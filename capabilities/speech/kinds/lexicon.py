"""Lexicon: words that are spoken in another way than they are written."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated
from unicodedata import category

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from pipeline.errors import InvalidRequest
from pipeline.kind import NOT_BLANK, Stored
from pipeline.offers.languages import LanguageTag

#: Longest word and replacement of an entry, in Unicode code points.
MAX_WORD = 100
MAX_REPLACEMENT = 200
#: With its replacements, a text may be at most this many times as long, plus so many characters.
MAX_GROWTH = 2
GROWTH_OF_SHORT_TEXTS = 1_000
#: Scripts written without spaces between words, as ranges: CJK, kana, Thai, Lao, Myanmar, Khmer.
SPACELESS = (
    ("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u3040", "\u30ff"), ("\u3400", "\u9fff"),
    ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"),
)  # fmt: skip
#: Any white space matches the one space of an entry: New York, with a line break between.
SPACES = re.compile(r"\s+")
UNLIKE_AN_ENTRY = re.compile(r"\s\s|[^\S ]")
SIGN = re.compile(r"\s+|\S")


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _not_empty(text: str) -> str:
    if not text:
        raise PydanticCustomError("string_too_short", "empty", {"min_length": 1})
    return text


class LexiconEntry(Stored):
    """A word or phrase and its replacement."""

    word: Annotated[str, Field(max_length=MAX_WORD), AfterValidator(_on_one_line), AfterValidator(_not_empty)] = Field(
        json_schema_extra=NOT_BLANK, description="Matched as a whole word; the longest entry wins."
    )
    replacement: Annotated[str, Field(max_length=MAX_REPLACEMENT), AfterValidator(_on_one_line)] = Field(
        description="Spoken instead of the word; nothing if empty."
    )
    language: LanguageTag | None = Field(
        None, description="Only for voices of this language; en includes en-GB. Default: all."
    )
    case_sensitive: bool = Field(False, description="Match upper and lower case exactly.")

    @property
    def key(self) -> str:
        """The word as it is looked up."""
        return self.word if self.case_sensitive else folded(self.word)


class LexiconTooLong(InvalidRequest):
    """The lexicon makes the text much longer than what is paid for."""

    code = "lexicon_too_long"
    field = "text"


def entries_in(text: str, entries: Iterable[LexiconEntry]) -> list[LexiconEntry]:
    """Return the entries that may occur in a text. Raises LexiconTooLong."""
    small = folded(_spaced(text)[0])
    counts = {entry: count for entry in entries if (count := small.count(folded(entry.word)))}
    # This counts words inside others too. Only where they are too many, they are matched one by one.
    most = sum(count * len(entry.replacement) for entry, count in counts.items())
    longest = MAX_GROWTH * len(text) + GROWTH_OF_SHORT_TEXTS
    if most <= longest:
        return list(counts)
    pieces = Replacements(list(counts)).pieces(text)
    spoken = sum(len(piece if said is None else said) for piece, said in pieces)
    if spoken > longest:
        raise LexiconTooLong(
            f"With the account's lexicon the text has {spoken:,} characters; the limit is {longest:,} for a text of "
            f"{len(text):,}. Shorten the replacements by PUT /tts/lexicon, or the text.",
            length=spoken,
            max_length=longest,
        )
    return list(counts)


class Replacements:
    """Finds entries in texts, in time linear in the length of the text."""

    def __init__(self, entries: Sequence[LexiconEntry] = ()) -> None:
        self._exact = {entry.key: entry.replacement for entry in entries if entry.case_sensitive}
        self._folded = {entry.key: entry.replacement for entry in entries if not entry.case_sensitive}
        #: Lengths of the entries by their first letter, longest first.
        self._lengths: dict[str, list[int]] = {}
        for entry in sorted(entries, key=lambda entry: -len(entry.word)):
            lengths = self._lengths.setdefault(folded(entry.word)[0], [])
            if len(entry.word) not in lengths:
                lengths.append(len(entry.word))

    def pieces(self, text: str) -> Iterator[tuple[str, str | None]]:
        """Yield the text in pieces, each with its replacement, or None if it is spoken as written."""
        spaced, places = _spaced(text)
        small, begins, place = folded(spaced), 0, 0
        while self._lengths and place < len(spaced):
            found = self._found(spaced, small, place)
            if found is None:
                place += 1
                continue
            length, replacement = found
            if begins < place:
                yield text[places[begins] : places[place]], None
            yield text[places[place] : places[place + length]], replacement
            begins = place = place + length
        if begins < len(spaced):
            yield text[places[begins] :], None

    def _found(self, text: str, small: str, place: int) -> tuple[int, str] | None:
        """Return the length of the longest entry that begins at a place, and its replacement."""
        lengths = self._lengths.get(small[place])
        if lengths is None or _is_inside_a_word(text, place):
            return None
        for length in lengths:
            end = place + length
            if end > len(text):
                continue
            replacement = self._exact.get(text[place:end], self._folded.get(small[place:end]))
            if replacement is not None and not _is_inside_a_word(text, end):
                return length, replacement
        return None


def _spaced(text: str) -> tuple[str, Sequence[int]]:
    """Return the text with its white space collapsed, and the place in the text of each of its signs and its end."""
    if not UNLIKE_AN_ENTRY.search(text):
        return text, range(len(text) + 1)
    return SPACES.sub(" ", text), [*(sign.start() for sign in SIGN.finditer(text)), len(text)]


def folded(text: str) -> str:
    """Return the text in lower case, of the same length."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(s if len(s := sign.lower()) == 1 else sign for sign in text)


def _is_inside_a_word(text: str, place: int) -> bool:
    """Return whether the signs before and at a place belong to one word."""
    return 0 < place < len(text) and _is_of_a_word(text[place - 1]) and _is_of_a_word(text[place])


def _is_of_a_word(sign: str) -> bool:
    """Return whether a sign is a letter, number or mark of a script that separates words by spaces."""
    return category(sign)[0] in "LNM" and not any(first <= sign <= last for first, last in SPACELESS)
