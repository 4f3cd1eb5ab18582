"""Script: the lines of a text that are spoken one by one, with the silences before them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from capabilities.speech.kinds.fields import SpokenRequest
from capabilities.speech.kinds.pauses import NONE
from capabilities.speech.normalization.sentences import sentences, split_text

#: The fewest characters of a short first line: three seconds of speech, enough for an engine faster than real time to
#: speak the next line.
START_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """The text that an engine speaks in one go.

    `source` ends with `text`, which is spoken. Joined, the sources of a script's lines are the text as it was sent."""

    source: str
    text: str
    #: The silence that marks ask for; always made.
    marks: timedelta = NONE
    #: The silence between this line and the last one, if both say something and no mark says otherwise.
    gap: timedelta = NONE
    #: True if the text asks for a pause before it, and behind it.
    starts_at_pause: bool = False
    ends_at_pause: bool = False

    def silence(self, *, is_spoken: bool, has_begun: bool) -> timedelta:
        """Return the silence before the line; `has_begun`: another line was spoken before it."""
        return self.marks or (self.gap if is_spoken and has_begun else NONE)


def write_script(
    request: SpokenRequest, *, limit: int, language: str, starts_short: bool = False
) -> Sequence[ScriptLine]:
    """Return the lines of a request, of at most `limit` characters, in whole sentences where they fit.

    `starts_short`: someone is listening already, so the first line is a sentence or a few. Raises PauseInvalid."""
    lines = list(_lines(request, limit, language, starts_short))
    # A mark's pause also comes before the first line; a gap is between two.
    pauses = [bool(line.marks or (line.gap and number)) for number, line in enumerate(lines)]
    return [
        replace(line, starts_at_pause=before, ends_at_pause=behind)
        for line, before, behind in zip(lines, pauses, [*pauses[1:], False], strict=True)
    ]


def _lines(request: SpokenRequest, limit: int, language: str, starts_short: bool) -> Iterator[ScriptLine]:
    found = request.passages
    for passage in found:
        gap = request.paragraph_gap if passage.is_paragraph else request.gap
        first, *rest = split_text(passage.text, limit=limit, language=language) or [""]
        if starts_short and passage is found[0]:
            first, *rest = *_short_start(first, language), *rest
        before = passage.source[: len(passage.source) - len(passage.text)]
        lines = [ScriptLine(before + first, first, passage.marks, gap)]
        lines += [ScriptLine(chunk, chunk, gap=request.gap) for chunk in rest]
        yield from lines


def _short_start(chunk: str, language: str) -> list[str]:
    """Return a chunk in two: as many first sentences as make a short line, and the rest, if any."""
    length = 0
    for sentence in sentences(chunk, language):
        length += len(sentence)
        if len(chunk[:length].strip()) >= START_CHARACTERS:
            break
    return [chunk[:length], chunk[length:]] if chunk[length:].strip() else [chunk]
