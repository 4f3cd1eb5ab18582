"""Timestamps: when each sentence and word of a text is heard, as the API answers it."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from pipeline.kind import FileLink, Origin, Stored
from pipeline.subtitles.segments import Segment
from pipeline.timestamps import Timestamp, timestamp

#: The field of a request that asks for timestamps.
Timestamps = Annotated[
    bool, Field(description="Answer with JSON: a link to the audio, the times of sentences and words, and subtitles.")
]


class SpokenTimes(Stored):
    """The sentences of a text with their words, in seconds of the sound, and the artifacts of its subtitles."""

    sentences: list[Segment]
    estimated: bool
    srt: str
    vtt: str


class TimedSentence(BaseModel):
    """A sentence of the text as it was sent, and when it is heard."""

    text: str
    start: float
    end: float


class TimedWord(BaseModel):
    """A word of the text as it was sent, with its punctuation, and when it is heard."""

    word: str
    start: float
    end: float


class TimedSpeech(BaseModel):
    """The answer with `timestamps`. Its links need no key and work until `expires_at`."""

    audio_url: str
    content_type: str = Field(description="Content type of the audio.")
    duration: float = Field(description="Seconds of audio.")
    voice: str | None
    engine: str | None
    origin: Origin
    estimated: bool = Field(description="The engine told no times; they are estimated from the lengths of words.")
    sentences: list[TimedSentence]
    words: list[TimedWord]
    warnings: list[str] = Field(description="Why another voice would suit the request better.")
    srt_url: str = Field(description="Subtitles as SubRip.")
    vtt_url: str = Field(description="Subtitles as WebVTT.")
    credits_used: int
    expires_at: Timestamp


def timed_speech(times: SpokenTimes, *, artifact: str, expires_at: datetime, **fields: Any) -> dict[str, Any]:
    """Return a TimedSpeech as a dictionary, with FileLinks in place of URLs; `fields` are its other fields."""
    audio, srt, vtt = (FileLink(key, expires_at) for key in (artifact, times.srt, times.vtt))
    words = [word for sentence in times.sentences for word in sentence.words or ()]
    fields |= {
        "audio_url": audio,
        "estimated": times.estimated,
        "sentences": [sentence.model_dump(include=set(TimedSentence.model_fields)) for sentence in times.sentences],
        "words": [word.model_dump(include=set(TimedWord.model_fields)) for word in words],
        "srt_url": srt,
        "vtt_url": vtt,
        "expires_at": timestamp(expires_at),
    }
    return {name: fields[name] for name in TimedSpeech.model_fields}
