"""Notes: the texts in the file that its author wrote about the picture, and in which language."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from capabilities.alt_text.engines.basic.wording import LANGUAGES, wording_of
from capabilities.alt_text.engines.text.cleaning import clean
from workers.media.images.notes import UNQUOTABLE
from workers.media.images.picture import Note

#: The confidence in each kind of note; a title is a name more than a description.
CONFIDENCE = {"alt_text": 0.9, "caption": 0.8, "title": 0.6}
#: The same of a note in a language that was not asked for.
FOREIGN_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True)
class AuthorNote:
    """A text that an author wrote about a picture, and the confidence in it (0..1); a title names it."""

    text: str
    confidence: float
    is_title: bool = False


def statements_in(notes: Sequence[Note], language: str) -> tuple[list[AuthorNote], list[AuthorNote]]:
    """Return two lists: notes in a language, and notes in others or in one that can't be told. Their order stays.

    A note of the second list can be quoted, and is no text in the language that is wanted."""
    own: list[AuthorNote] = []
    foreign: list[AuthorNote] = []
    for note in notes:
        text = clean(note.text)
        if UNQUOTABLE.fullmatch(text) or sum(map(str.isalpha, text)) <= 2:
            continue
        confidence, is_title = CONFIDENCE.get(note.field, CONFIDENCE["title"]), note.field == "title"
        if language_of(note, text) == language:
            own.append(AuthorNote(text, confidence, is_title))
        else:
            foreign.append(AuthorNote(text, min(confidence, FOREIGN_CONFIDENCE), is_title))
    return own, foreign


def language_of(note: Note, text: str) -> str | None:
    """Return the language of a note (ISO 639-1) by its tag, or by its words; None: unknown."""
    tag = (note.language or "").lower().partition("-")[0]
    if tag and tag not in ("x", "und", "mul", "zxx"):
        return tag
    words = re.findall(r"[^\W\d_]+", text.lower())
    counts = {language: sum(word in own for word in words) for language, own in _own_words().items()}
    best = max(counts, key=lambda language: counts[language])
    others = max(count for language, count in counts.items() if language != best)
    return best if counts[best] > 2 * others else None


@cache
def _own_words() -> dict[str, set[str]]:
    """Return the commonest words of each language that no other language has."""
    common = {language: set(wording_of(language)["common"].split()) for language in LANGUAGES}
    known = Counter(word for words in common.values() for word in words)
    return {language: {word for word in words if known[word] == 1} for language, words in common.items()}
