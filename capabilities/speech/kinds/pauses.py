"""Pauses: the silences that a text asks for, by marks such as `[pause 1.5s]` and by blank lines.

Front matter and code blocks are not part of what is spoken.
"""

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

#: Fields between two lines of --- (YAML) or +++ (TOML) at the start, as static sites have them.
FRONT_MATTER = re.compile(
    r"\ufeff?(?P<line>---|\+\+\+)[ \t]*\r?\n(?=(?:#[^\n]{0,200}\n){0,9}[\w-]{1,50}[ \t]*[:=])"
    r"(?:(?!(?P=line))[^\n]*+\n)*+(?P=line)[ \t]*(?:\r?\n|\Z)"
)
#: Markdown's fence of code; one without a word behind it closes a block, too.
FENCE = re.compile(r"^[ \t]{0,12}(`{3,}+|~{3,}+)([^\n]*+)(?:\n|\Z)", re.MULTILINE)

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

    `source` begins with what is not spoken, such as the mark of the pause before it, and ends with `text`, which is.
    All sources joined are the text."""

    source: str
    text: str
    #: The length of the marks before it.
    marks: timedelta = NONE
    #: True if it follows blank lines.
    is_paragraph: bool = False


def passages(text: str, *, blank_lines: bool, strict: bool = True) -> Iterator[Passage]:
    """Yield the passages of a text. Without `blank_lines`, only marks separate them.

    Raises PauseInvalid if `strict`; otherwise a malformed mark is text."""
    source_start, text_start = 0, 0
    marks, is_paragraph = NONE, False
    for start, end, found in _breaks(text, MARKS_AND_BLANK_LINES if blank_lines else MARKS):
        try:
            pause = _length(found[0], found["length"]) if found and found["length"] is not None else NONE
        except PauseInvalid:
            if strict:
                raise
            continue
        spoken = text[text_start:start]
        if spoken.strip():
            yield Passage(text[source_start:start], spoken, marks, is_paragraph)
            source_start, marks, is_paragraph = start, NONE, False
        if not pause and blank_lines:
            is_paragraph = True
        marks += pause
        text_start = end
    if source_start < len(text):
        yield Passage(text[source_start:], text[text_start:], marks, is_paragraph)


def _breaks(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int, re.Match[str] | None]]:
    """Yield the ends of marks and blank lines, each with its match, and of what is not spoken."""
    at = 0
    for start, end in [*_not_spoken(text), (len(text), len(text))]:
        yield from ((found.start(), found.end(), found) for found in pattern.finditer(text, at, start))
        if start < end:
            yield start, end, None
        at = end


def _not_spoken(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ends of front matter and of closed blocks of code, reading the text once."""
    at = 0
    if front := FRONT_MATTER.match(text):
        at = front.end()
        yield 0, at
    opened: re.Match[str] | None = None
    for fence in FENCE.finditer(text, at):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            yield opened.start(), fence.end()
            opened = None


def without_code(text: str) -> str:
    """Return a text without its front matter and code blocks; each leaves a blank line."""
    kept, at = [], 0
    for start, end in _not_spoken(text):
        kept.append(text[at:start])
        at = end
    return "\n\n".join([*kept, text[at:]])


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
