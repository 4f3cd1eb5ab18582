"""Timestamps: when each sentence and word of a text is heard, and the answer that tells it."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from pipeline.kind import FileLink, Stored
from pipeline.subtitles.segments import Segment
from pipeline.timestamps import Timestamp, timestamp

#: A request's field that asks for the times.
Timestamps = Annotated[
    bool,
    Field(description="Answer with JSON: a link to the sound, when its sentences and words are heard, and subtitles."),
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
    """What is answered with `timestamps`. Links need no key, and are good until `expires_at`."""

    audio_url: str
    content_type: str = Field(description="Of the sound.")
    duration: float = Field(description="Seconds of sound.")
    voice: str | None
    engine: str | None
    estimated: bool = Field(description="Whether the engine knew no times, and they are guessed from lengths.")
    sentences: list[TimedSentence]
    words: list[TimedWord]
    srt_url: str = Field(description="What is spoken, as SubRip.")
    vtt_url: str = Field(description="What is spoken, as WebVTT.")
    credits_used: int
    expires_at: Timestamp


def timed_speech(times: SpokenTimes, *, artifact: str, expires_at: datetime, **shown: Any) -> dict[str, Any]:
    """Return the fields of a TimedSpeech, with links in place of URLs; `shown` are those that stand elsewhere."""
    audio, srt, vtt = (FileLink(key, expires_at) for key in (artifact, times.srt, times.vtt))
    words = [word for sentence in times.sentences for word in sentence.words or ()]
    fields = {
        **shown,
        "audio_url": audio,
        "estimated": times.estimated,
        "sentences": [sentence.model_dump(include=set(TimedSentence.model_fields)) for sentence in times.sentences],
        "words": [word.model_dump(include=set(TimedWord.model_fields)) for word in words],
        "srt_url": srt,
        "vtt_url": vtt,
        "expires_at": timestamp(expires_at),
    }
    return {name: fields[name] for name in TimedSpeech.model_fields}
