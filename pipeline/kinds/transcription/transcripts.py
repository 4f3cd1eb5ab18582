"""Transcripts: what was said and when, in which forms it is answered, and what it costs."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Literal, get_args
from unicodedata import category

from pydantic import BaseModel, Field

Format = Literal["json", "verbose_json", "text", "srt", "vtt"]
FORMATS: tuple[Format, ...] = get_args(Format)

#: Forms that say when something was said, down to the word.
TIMED: frozenset[Format] = frozenset({"verbose_json", "srt", "vtt"})

CONTENT_TYPES: Mapping[Format, str] = {
    "json": "application/json",
    "verbose_json": "application/json",
    "text": "text/plain; charset=utf-8",
    "srt": "application/x-subrip; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
}
ENDINGS: Mapping[Format, str] = {"json": ".json", "verbose_json": ".json", "text": ".txt", "srt": ".srt", "vtt": ".vtt"}

#: Languages written without spaces between sentences.
SPACELESS = frozenset({"zh", "ja", "yue", "th", "lo", "my", "km", "bo"})


class Word(BaseModel):
    """A word and when it was said, in seconds from the start."""

    start: float
    end: float
    word: str
    probability: float | None = Field(None, description="How sure the engine is, from 0 to 1.")


class Segment(BaseModel):
    """What was said in one go, with its times in seconds from the start; a subtitle."""

    start: float
    end: float
    text: str
    probability: float | None = Field(None, description="How sure the engine is, from 0 to 1.")
    words: list[Word] | None = Field(None, description="Each word with its times; with verbose_json.")

    def moved(self, seconds: float, *, latest: float) -> "Segment":
        """Return the segment so much later, in order, within the sound, and to the millisecond."""
        start, end = _span(self.start + seconds, self.end + seconds, latest)
        words = None if self.words is None else [_moved(word, seconds, latest) for word in self.words]
        return self.model_copy(update={"start": start, "end": end, "text": _plain(self.text), "words": words})


class Transcript(BaseModel):
    """What is answered."""

    text: str = Field(description="All that was said; empty when nobody spoke.")
    language: str = Field(description="ISO 639-1: as given or as detected; auto when there was nothing to tell it by.")
    language_probability: float | None = Field(
        description="How sure the detection is, from 0 to 1; null where the language was given or not told."
    )
    duration: float = Field(description="Seconds of sound.")
    credits_used: int
    draft: bool = Field(description="Whether a light engine made this, as a draft that wants reading again.")
    warnings: list[str]
    segments: list[Segment] | None = Field(None, description="What was said when; with verbose_json.")


def join_texts(segments: Sequence[Segment], language: str | None) -> str:
    """Return all that was said, as one text."""
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


#: What one of the started minutes costs, in credits (docs/api.md, Limits).
CREDITS_PER_MINUTE = 5
#: What MP3 and AAC add to a recording to fill its last frame; it is not charged.
PADDING = timedelta(seconds=0.1)


def transcription_credits(duration: timedelta) -> int:
    """Return what so much sound costs: each started minute, and at least one."""
    return CREDITS_PER_MINUTE * max(1, -(-(duration - PADDING) // timedelta(minutes=1)))
