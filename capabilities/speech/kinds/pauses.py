"""Pauses: the silences that a text asks for, by marks such as `[pause 1.5s]` and by blank lines."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from pipeline.errors import InvalidRequest

#: What begins like a mark is one, or is refused: read aloud it would be a surprise. Each branch reads no character
#: twice, so no text makes it slow.
MARK = r"\[[ \t]*pause(?=[\s:=\d\]])(?P<length>[^\[\]\n]*)\]"
BLANK_LINES = r"\n(?:[^\S\n]*\n)+"
MARKS = re.compile(MARK, re.IGNORECASE)
MARKS_AND_BLANK_LINES = re.compile(f"{MARK}|{BLANK_LINES}", re.IGNORECASE)

LENGTH = re.compile(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*(ms|s)\s*", re.IGNORECASE)
UNITS = {"ms": timedelta(milliseconds=1), "s": timedelta(seconds=1)}

SHORTEST, LONGEST = timedelta(milliseconds=50), timedelta(seconds=10)
#: The most silence that the marks and blank lines of one text make together.
MOST = timedelta(minutes=30)
#: How much longer the pause of a blank line is than the one between other sentences.
PARAGRAPH = timedelta(milliseconds=700)

NONE = timedelta()


class PauseInvalid(InvalidRequest):
    """A pause has no length that can be read, or is too short or too long."""

    code = "pause_invalid"


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a text between two pauses. `source` is the part with what asks for the pause before it, so that the
    sources of all passages together are the text; `text` is its end, which is spoken."""

    source: str
    text: str
    #: What marks ask for before it.
    marks: timedelta = NONE
    #: Whether blank lines stand before it.
    is_paragraph: bool = False


def passages(text: str, *, blank_lines: bool, strict: bool = True) -> Iterator[Passage]:
    """Yield a text in passages. Without `blank_lines`, only marks part them.

    Raises PauseInvalid, unless it is not `strict`: then a mark that is no pause is text."""
    begins, ends = 0, 0  # of the source and of its marks
    marks, is_paragraph = NONE, False
    for found in (MARKS_AND_BLANK_LINES if blank_lines else MARKS).finditer(text):
        try:
            pause = NONE if found["length"] is None else _length(found[0], found["length"])
        except PauseInvalid:
            if strict:
                raise
            continue
        spoken = text[ends : found.start()]
        if spoken.strip():
            yield Passage(text[begins : found.start()], spoken, marks, is_paragraph)
            begins, marks, is_paragraph = found.start(), NONE, False
        if found["length"] is None:
            is_paragraph = True
        marks += pause
        ends = found.end()
    if begins < len(text):
        yield Passage(text[begins:], text[ends:], marks, is_paragraph)


def check_silence(found: Iterable[Passage], paragraph: timedelta) -> None:
    """Refuse passages with too much silence between them, where blank lines last `paragraph`. Raises PauseInvalid."""
    silence = sum((passage.marks or passage.is_paragraph * paragraph for passage in found), NONE)
    if silence > MOST:
        raise PauseInvalid(
            f"The pauses of the text last {silence / UNITS['s']:,.0f} seconds in all; at most "
            f"{MOST / UNITS['s']:,.0f} are made. Ask for less, split the text, or send plain_text: true."
        )


def _length(mark: str, written: str) -> timedelta:
    found = LENGTH.fullmatch(written)
    shown = repr(mark if len(mark) <= 60 else mark[:57] + "…")
    if found is None:
        raise PauseInvalid(
            f"{shown} is no pause: write [pause 1.5s] or [pause 500ms], or send plain_text: true to hear it read.",
            field="text",
        )
    length = float(found[1]) * UNITS[found[2].lower()]
    if not SHORTEST <= length <= LONGEST:
        raise PauseInvalid(
            f"{shown} is {'longer' if length > LONGEST else 'shorter'} than a pause may be: from "
            f"{SHORTEST / UNITS['s']:g} to {LONGEST / UNITS['s']:g} seconds. Put several in a row for a longer one.",
            field="text",
        )
    return length
