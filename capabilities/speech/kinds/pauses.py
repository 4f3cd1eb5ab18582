"""Pauses: the silences that a text asks for, by marks such as `[pause 1.5s]` and by blank lines."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from pipeline.errors import InvalidRequest

#: Text that begins like a mark is one, or is refused: nobody wants it read aloud. Each branch reads no character twice,
#: so no text makes the pattern slow.
MARK = r"\[[ \t]*pause(?=[\s:=\d\]])(?P<length>[^\[\]\n]*)\]"
BLANK_LINES = r"\n(?:[^\S\n]*\n)+"
MARKS = re.compile(MARK, re.IGNORECASE)
MARKS_AND_BLANK_LINES = re.compile(f"{MARK}|{BLANK_LINES}", re.IGNORECASE)

LENGTH = re.compile(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*(ms|s)\s*", re.IGNORECASE)
UNITS = {"ms": timedelta(milliseconds=1), "s": timedelta(seconds=1)}

SHORTEST, LONGEST = timedelta(milliseconds=50), timedelta(seconds=10)
#: The most silence in one text.
MOST = timedelta(minutes=30)
#: How much longer the pause at a blank line is than the one between sentences.
PARAGRAPH = timedelta(milliseconds=700)

NONE = timedelta()


class PauseInvalid(InvalidRequest):
    """A pause is malformed, too short or too long."""

    code = "pause_invalid"


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text between two pauses.

    `source` begins with what asks for the pause before it, and ends with `text`, which is spoken. All sources joined
    are the text."""

    source: str
    text: str
    #: The length of the marks before it.
    marks: timedelta = NONE
    #: Whether it follows blank lines.
    is_paragraph: bool = False


def passages(text: str, *, blank_lines: bool, strict: bool = True) -> Iterator[Passage]:
    """Yield the passages of a text. Without `blank_lines`, only marks separate them.

    Raises PauseInvalid if `strict`; otherwise a malformed mark is text."""
    source_start, text_start = 0, 0
    marks, is_paragraph = NONE, False
    for found in (MARKS_AND_BLANK_LINES if blank_lines else MARKS).finditer(text):
        try:
            pause = NONE if found["length"] is None else _length(found[0], found["length"])
        except PauseInvalid:
            if strict:
                raise
            continue
        spoken = text[text_start : found.start()]
        if spoken.strip():
            yield Passage(text[source_start : found.start()], spoken, marks, is_paragraph)
            source_start, marks, is_paragraph = found.start(), NONE, False
        if found["length"] is None:
            is_paragraph = True
        marks += pause
        text_start = found.end()
    if source_start < len(text):
        yield Passage(text[source_start:], text[text_start:], marks, is_paragraph)


def check_silence(found: Iterable[Passage], paragraph: timedelta) -> None:
    """Refuse passages with too much silence in all; a blank line lasts `paragraph`. Raises PauseInvalid."""
    silence = sum((passage.marks or passage.is_paragraph * paragraph for passage in found), NONE)
    if silence > MOST:
        raise PauseInvalid(
            f"The pauses of the text last {silence / UNITS['s']:,.0f} seconds in all; the limit is "
            f"{MOST / UNITS['s']:,.0f}. Shorten them, split the text, or send plain_text: true."
        )


def _length(mark: str, written: str) -> timedelta:
    found = LENGTH.fullmatch(written)
    shown = repr(mark if len(mark) <= 60 else mark[:57] + "…")
    if found is None:
        raise PauseInvalid(
            f"{shown} is not a pause: write [pause 1.5s] or [pause 500ms], or send plain_text: true to have it read "
            "aloud.",
            field="text",
        )
    length = float(found[1]) * UNITS[found[2].lower()]
    if not SHORTEST <= length <= LONGEST:
        raise PauseInvalid(
            f"{shown} is too {'long' if length > LONGEST else 'short'}: a pause lasts {SHORTEST / UNITS['s']:g} to "
            f"{LONGEST / UNITS['s']:g} seconds. Put several in a row for a longer one.",
            field="text",
        )
    return length
