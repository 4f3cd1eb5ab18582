"""Transcripts: the forms of an answer, and the price of a recording."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Literal, get_args

from pydantic import BaseModel, Field

from pipeline.subtitles.segments import Segment

Format = Literal["json", "verbose_json", "text", "srt", "vtt"]
FORMATS: tuple[Format, ...] = get_args(Format)
#: The same and OpenAI's JSON.
Form = Literal[
    "json", "verbose_json", "text", "srt", "vtt", "openai_json", "openai_verbose_json", "openai_diarized_json"
]
#: Forms with the times of words.
TIMED: frozenset[Form] = frozenset({"verbose_json", "srt", "vtt"})
#: Write down what is said, or its English translation.
Task = Literal["transcribe", "translate"]
#: The times in OpenAI's JSON.
Granularity = Literal["word", "segment"]

CONTENT_TYPES: Mapping[Form, str] = {
    "json": "application/json",
    "verbose_json": "application/json",
    "text": "text/plain; charset=utf-8",
    "srt": "application/x-subrip; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
    "openai_json": "application/json",
    "openai_verbose_json": "application/json",
    "openai_diarized_json": "application/json",
}
ENDINGS: Mapping[Form, str] = {
    form: {"text": ".txt", "srt": ".srt", "vtt": ".vtt"}.get(form, ".json") for form in get_args(Form)
}
#: Credits per started minute (docs/api.md, Limits).
CREDITS_PER_MINUTE = 5
#: Most people who may be told apart in a recording.
MOST_SPEAKERS = 10
#: MP3 and AAC add this to a recording to fill its last frame; it is not charged.
PADDING = timedelta(seconds=0.1)


class Transcript(BaseModel):
    """The answer."""

    text: str = Field(description="The whole text; empty if nobody speaks.")
    language: str = Field(description="ISO 639-1, as sent or as detected; auto if there was nothing to detect.")
    language_probability: float | None = Field(
        description="Confidence of the detection, from 0 to 1; null if the language was sent, or is not told."
    )
    duration: float = Field(description="Seconds of audio.")
    credits_used: int
    draft: bool = Field(description="A light engine made this draft; proofread it.")
    warnings: list[str]
    speakers: list[str] | None = Field(None, description="Who speaks, in the order of their first words; with diarize.")
    segments: list[Segment] | None = Field(None, description="The text with its times; with verbose_json.")


def transcription_credits(duration: timedelta) -> int:
    """Return the price of a recording: each started minute, at least one."""
    return CREDITS_PER_MINUTE * max(1, -(-(duration - PADDING) // timedelta(minutes=1)))
