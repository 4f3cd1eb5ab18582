"""Lexicon: words that are said in another way than they are written."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated
from unicodedata import category

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from pipeline.errors import InvalidRequest
from pipeline.kind import NOT_BLANK, Stored
from pipeline.offers.languages import LanguageTag

#: Of one entry, in Unicode code points.
MAX_WORD = 100
MAX_REPLACEMENT = 200

#: A text with its replacements is at most so many times as long as it was sent, and so many characters more.
MAX_GROWTH = 2
GROWTH_OF_SHORT_TEXTS = 1_000

#: Scripts that are written without spaces between words, as ranges: CJK, kana, Thai, Lao, Myanmar, Khmer.
SPACELESS = (
    ("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u3040", "\u30ff"), ("\u3400", "\u9fff"),
    ("\uf900", "\ufaff"), ("\U00020000", "\U0003ffff"),
)  # fmt: skip

#: White space that is one space in an entry: New York, with a line break between.
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
    """A word, or some, and what is said for it."""

    word: Annotated[str, Field(max_length=MAX_WORD), AfterValidator(_on_one_line), AfterValidator(_not_empty)] = Field(
        json_schema_extra=NOT_BLANK,
        description="Found as a whole word; the longest entry counts.",
    )
    replacement: Annotated[str, Field(max_length=MAX_REPLACEMENT), AfterValidator(_on_one_line)] = Field(
        description="What is said instead; nothing, when it is empty."
    )
    language: LanguageTag | None = Field(
        None, description="Only for voices of this language; en counts for en-GB, too. All without it."
    )
    case_sensitive: bool = Field(False, description="Whether capital letters matter.")

    @property
    def key(self) -> str:
        """What is looked for."""
        return self.word if self.case_sensitive else folded(self.word)


class LexiconTooLong(InvalidRequest):
    """The lexicon makes so much more of a text that it is not paid for."""

    code = "lexicon_too_long"
    field = "text"


def entries_in(text: str, entries: Iterable[LexiconEntry]) -> list[LexiconEntry]:
    """Return the entries that may stand in a text; each is looked for once, so that a long text takes no long time.

    Raises LexiconTooLong."""
    small = folded(_spaced(text)[0])
    counts = {entry: count for entry in entries if (count := small.count(folded(entry.word)))}
    # Words are counted inside others as well; only where they are too many, they are looked at one by one.
    most = sum(count * len(entry.replacement) for entry, count in counts.items())
    if most > MAX_GROWTH * len(text) + GROWTH_OF_SHORT_TEXTS:
        _check_growth(text, Replacements(list(counts)))
    return list(counts)


def _check_growth(text: str, replacements: "Replacements") -> None:
    spoken = sum(len(piece if said is None else said) for piece, said in replacements.pieces(text))
    longest = MAX_GROWTH * len(text) + GROWTH_OF_SHORT_TEXTS
    if spoken > longest:
        raise LexiconTooLong(
            f"With the account's lexicon the text has {spoken:,} characters; at most {longest:,} are spoken for "
            f"{len(text):,}. Shorten the replacements by PUT /tts/lexicon, or the text.",
            length=spoken,
            max_length=longest,
        )


class Replacements:
    """Entries as they are found in texts, in time that grows with a text's length alone."""

    def __init__(self, entries: Sequence[LexiconEntry] = ()) -> None:
        self._exact = {entry.key: entry.replacement for entry in entries if entry.case_sensitive}
        self._folded = {entry.key: entry.replacement for entry in entries if not entry.case_sensitive}
        self._lengths: dict[str, list[int]] = {}
        for entry in sorted(entries, key=lambda entry: -len(entry.word)):
            lengths = self._lengths.setdefault(folded(entry.word)[0], [])
            if len(entry.word) not in lengths:
                lengths.append(len(entry.word))

    def pieces(self, text: str) -> Iterator[tuple[str, str | None]]:
        """Yield a text in pieces, each with what is said for it; None: it is said as it is written."""
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
        """Return the length of the longest entry that begins at a place, and what is said for it."""
        lengths = self._lengths.get(small[place])
        if lengths is None or _is_inside_a_word(text, place):
            return None
        for length in lengths:
            end = place + length
            if end > len(text):
                continue
            replacement = self._exact.get(text[place:end])
            if replacement is None:
                replacement = self._folded.get(small[place:end])
            if replacement is not None and not _is_inside_a_word(text, end):
                return length, replacement
        return None


def _spaced(text: str) -> tuple[str, Sequence[int]]:
    """Return a text with one space for each run of white space, and where its signs and its end are in the text."""
    if not UNLIKE_AN_ENTRY.search(text):
        return text, range(len(text) + 1)
    signs = list(SIGN.finditer(text))
    return SPACES.sub(" ", text), [*(sign.start() for sign in signs), len(text)]


def folded(text: str) -> str:
    """Return a text in small letters, of the same length."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(s if len(s := sign.lower()) == 1 else sign for sign in text)


def _is_inside_a_word(text: str, place: int) -> bool:
    """Tell whether the signs before and at a place belong to one word."""
    return 0 < place < len(text) and _is_of_a_word(text[place - 1]) and _is_of_a_word(text[place])


def _is_of_a_word(sign: str) -> bool:
    """Tell whether a sign is a letter, number or mark of a script that has spaces between its words."""
    return category(sign)[0] in "LNM" and not any(first <= sign <= last for first, last in SPACELESS)
