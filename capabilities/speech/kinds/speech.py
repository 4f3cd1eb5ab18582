"""Speech: speaks a text into one WAV file."""

from pydantic import Field

from capabilities.speech.kinds.batch import SpeechBatch
from capabilities.speech.kinds.fields import AudioFile, OneFile, SpeechKind, SpokenInput, SpokenRequest
from capabilities.speech.kinds.stream import SpeechStream
from capabilities.speech.kinds.timestamps import TimedSpeech, Timestamps
from pipeline.kind import Answer, Kind


class SpeechRequest(SpokenRequest):
    """A text, its voice and its volume."""

    volume_gain_db: float = Field(0.0, ge=-96, le=16, description="Gain in decibels; a limiter prevents clipping.")
    timestamps: Timestamps = False


class SpeechInput(SpeechRequest, SpokenInput):
    """A SpeechRequest as it is stored."""


class Speech(SpeechKind, OneFile, Kind[SpeechRequest, SpeechInput, AudioFile]):
    """POST /tts."""

    name = "speech"
    routes = ("/tts",)
    handler = "capabilities.speech.handlers.speech:SpeechHandler"
    unit = "texts"
    summary = "Speak a text of up to 10,000 characters as a WAV file."
    example = {"text": "Hello! This is Pressroom, speaking from your own machine."}
    max_characters = 10_000
    longer_routes = {"/tts/batch": SpeechBatch.max_characters, "/tts/stream": SpeechStream.max_characters}
    answer = Answer("audio/wav", model=TimedSpeech)
    filename = "output.wav"
