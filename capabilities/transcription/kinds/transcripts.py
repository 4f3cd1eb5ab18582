"""Transcripts: what was said and when, in which forms it is answered, and what it costs."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Literal, get_args

from pydantic import BaseModel, Field

from pipeline.subtitles.segments import Segment, Word, join_texts

__all__ = [
    "CONTENT_TYPES",
    "CREDITS_PER_MINUTE",
    "ENDINGS",
    "FORMATS",
    "TIMED",
    "Form",
    "Format",
    "Granularity",
    "Segment",
    "Task",
    "Transcript",
    "Word",
    "join_texts",
    "transcription_credits",
]

Format = Literal["json", "verbose_json", "text", "srt", "vtt"]
FORMATS: tuple[Format, ...] = get_args(Format)

#: Those of OpenAI's JSON beside them, which its clients read.
Form = Literal["json", "verbose_json", "text", "srt", "vtt", "openai_json", "openai_verbose_json"]

#: What is to become of what is said: written down, or written down in English.
Task = Literal["transcribe", "translate"]
#: What OpenAI's JSON tells the times of.
Granularity = Literal["word", "segment"]

#: Forms that say when something was said, down to the word.
TIMED: frozenset[Form] = frozenset({"verbose_json", "srt", "vtt"})

CONTENT_TYPES: Mapping[Form, str] = {
    "json": "application/json",
    "verbose_json": "application/json",
    "text": "text/plain; charset=utf-8",
    "srt": "application/x-subrip; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
    "openai_json": "application/json",
    "openai_verbose_json": "application/json",
}
ENDINGS: Mapping[Form, str] = {
    "json": ".json",
    "verbose_json": ".json",
    "text": ".txt",
    "srt": ".srt",
    "vtt": ".vtt",
    "openai_json": ".json",
    "openai_verbose_json": ".json",
}


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


#: What one of the started minutes costs, in credits (docs/api.md, Limits).
CREDITS_PER_MINUTE = 5
#: What MP3 and AAC add to a recording to fill its last frame; it is not charged.
PADDING = timedelta(seconds=0.1)


def transcription_credits(duration: timedelta) -> int:
    """Return what so much sound costs: each started minute, and at least one."""
    return CREDITS_PER_MINUTE * max(1, -(-(duration - PADDING) // timedelta(minutes=1)))
