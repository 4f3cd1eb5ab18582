"""Speech batch: speaks a long text, such as a chapter, into one MP3."""

from datetime import timedelta
from typing import Any

from pydantic import Field

from capabilities.speech.kinds.fields import (
    AudioFile,
    Mp3Fields,
    OneFile,
    SpeechKind,
    SpokenInput,
    SpokenRequest,
    TextTooLong,
)
from capabilities.speech.kinds.timestamps import TimedSpeech, Timestamps
from pipeline.kind import Answer, Kind
from pipeline.offers.offers import Offers

#: Longest text of one request, in Unicode code points (docs/speech.md).
MAX_CHARACTERS = 20_000


class BatchTextTooLong(TextTooLong):
    """The text is longer than a batch may be. The specification promises the body of this error."""

    def document(self) -> dict[str, Any]:
        """Return the promised body, with the message in `error`."""
        suggestion = f"Split the text into parts of at most {MAX_CHARACTERS:,} characters and send them one by one."
        return {"error": self.message, "suggestion": suggestion, "code": self.code, **self.at_fault, **self.details}


class SpeechBatchRequest(SpokenRequest, Mp3Fields):
    """A text, its voice and the pause between its chunks."""

    pause_duration: float = Field(800, ge=0, le=10_000, description="Milliseconds of pause between segments.")
    timestamps: Timestamps = False

    @property
    def gap(self) -> timedelta:
        return timedelta(milliseconds=self.pause_duration)


class SpeechBatchInput(SpeechBatchRequest, SpokenInput):
    """A SpeechBatchRequest as it is stored."""


class SpeechBatch(SpeechKind, OneFile, Kind[SpeechBatchRequest, SpeechBatchInput, AudioFile]):
    """POST /tts/batch."""

    name = "speech_batch"
    routes = ("/tts/batch",)
    handler = "capabilities.speech.handlers.batch:SpeechBatchHandler"
    summary = "Speak a text of up to 20,000 characters as one MP3 of even loudness."
    example = {
        "text": "The first sentence of a chapter. And the second! Shall there be a third?",
        "pause_duration": 400,
    }
    max_characters = MAX_CHARACTERS
    answer = Answer("audio/mpeg", model=TimedSpeech)
    filename = "chapter.mp3"

    def check(self, request: SpokenRequest, offers: Offers) -> None:
        """Refuse a text that is too long, then what every kind refuses."""
        length = len(request.text)
        if length > MAX_CHARACTERS:
            raise BatchTextTooLong(
                f"The text has {length:,} characters; /tts/batch takes at most {MAX_CHARACTERS:,}.",
                text_length=length,
                max_length=MAX_CHARACTERS,
            )
        super().check(request, offers)
