"""Segments: what is said when, in pieces and in words."""

from collections.abc import Sequence
from unicodedata import category

from pydantic import BaseModel, Field

#: Languages written without spaces between sentences.
SPACELESS = frozenset({"zh", "ja", "yue", "th", "lo", "my", "km", "bo"})


class Word(BaseModel):
    """A word and when it was said, in seconds from the start."""

    start: float
    end: float
    word: str
    probability: float | None = Field(None, description="How sure the engine is, from 0 to 1.")


class Segment(BaseModel):
    """A stretch of speech with its times in seconds from the start; a subtitle."""

    start: float
    end: float
    text: str
    probability: float | None = Field(None, description="How sure the engine is, from 0 to 1.")
    words: list[Word] | None = Field(None, description="Each word with its times; with verbose_json.")
    speaker: str | None = Field(None, description="Who speaks, as Speaker 1; with diarize.")

    def moved(self, seconds: float, *, latest: float) -> "Segment":
        """Return the segment so much later, in order, within the sound, and to the millisecond."""
        start, end = _span(self.start + seconds, self.end + seconds, latest)
        words = None if self.words is None else [_moved(word, seconds, latest) for word in self.words]
        return self.model_copy(update={"start": start, "end": end, "text": _plain(self.text), "words": words})


def join_texts(segments: Sequence[Segment], language: str | None) -> str:
    return ("" if language in SPACELESS else " ").join(segment.text for segment in segments if segment.text)


def _plain(text: str) -> str:
    """Return a text on one line, as an empty line would end a subtitle, and without control characters."""
    shown = "".join(sign if sign.isspace() or category(sign) not in ("Cc", "Cs") else " " for sign in text)
    return " ".join(shown.split())


def _moved(word: Word, seconds: float, latest: float) -> Word:
    start, end = _span(word.start + seconds, word.end + seconds, latest)
    return word.model_copy(update={"start": start, "end": end, "word": _plain(word.word)})


def _span(start: float, end: float, latest: float) -> tuple[float, float]:
    start = round(min(max(start, 0.0), latest), 3)
    return start, round(max(start, min(end, latest)), 3)
