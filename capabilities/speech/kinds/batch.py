"""Speech batch: a long text is spoken sentence by sentence and comes back as one MP3, like a chapter."""

from datetime import timedelta
from typing import Any

from pydantic import Field

from capabilities.speech.kinds.fields import AudioFile, OneFile, SpeechKind, SpokenInput, SpokenRequest, TextTooLong
from capabilities.speech.kinds.timestamps import TimedSpeech, Timestamps
from pipeline.kind import Answer, Kind
from pipeline.offers.offers import Offers

#: Longest text of one request, in Unicode code points (docs/speech.md).
MAX_CHARACTERS = 20_000


class BatchTextTooLong(TextTooLong):
    """The text is longer than a batch may be; its body is the one that users of this route were promised."""

    def document(self) -> dict[str, Any]:
        """Return the body that this route has always had: the message stands in `error`."""
        suggestion = f"Split the text into parts of at most {MAX_CHARACTERS:,} characters and send them one by one."
        return {"error": self.message, "suggestion": suggestion, "code": self.code, **self.at_fault, **self.details}


class SpeechBatchRequest(SpokenRequest):
    """What is to be spoken, how, and the pause between its pieces."""

    pause_duration: float = Field(800, ge=0, le=10_000, description="Milliseconds of pause between segments.")
    timestamps: Timestamps = False

    @property
    def gap(self) -> timedelta:
        """The silence between two chunks of the text."""
        return timedelta(milliseconds=self.pause_duration)


class SpeechBatchInput(SpeechBatchRequest, SpokenInput):
    """The same as it is stored."""


class SpeechBatch(SpeechKind, OneFile, Kind[SpeechBatchRequest, SpeechBatchInput, AudioFile]):
    """POST /tts/batch."""

    name = "speech_batch"
    routes = ("/tts/batch",)
    handler = "capabilities.speech.handlers.batch:SpeechBatchHandler"
    summary = "Speak a text of up to 20,000 characters; the answer is one MP3 of even loudness."
    example = {
        "text": "The first sentence of a chapter. And the second! Shall there be a third?",
        "pause_duration": 400,
    }
    max_characters = MAX_CHARACTERS
    answer = Answer("audio/mpeg", model=TimedSpeech)
    filename = "chapter.mp3"

    def check(self, request: SpokenRequest, offers: Offers) -> None:
        """Refuse a text that is too long or empty, and a voice or language that no engine has."""
        length = len(request.text)
        if length > MAX_CHARACTERS:
            raise BatchTextTooLong(
                f"The text has {length:,} characters; /tts/batch takes at most {MAX_CHARACTERS:,}.",
                text_length=length,
                max_length=MAX_CHARACTERS,
            )
        super().check(request, offers)
