"""Transcripts: what is said in recordings."""

from pydantic import Field

from pressroom.documents.document import Document


class TranscribedWord(Document):
    """A word, with the seconds at which it is heard."""

    word: str
    start: float
    end: float
    probability: float | None = None


class Segment(Document):
    """Some words that belong together."""

    start: float
    end: float
    text: str
    probability: float | None = None
    words: list[TranscribedWord] | None = None


class Transcript(Document):
    """What is said in a recording, and when."""

    text: str
    #: ISO 639-1; auto where there was nothing to tell it by.
    language: str
    language_probability: float | None = None
    #: Seconds of sound.
    duration: float
    credits_used: int
    #: Whether a light engine made it, as a draft that wants reading again.
    draft: bool = False
    warnings: list[str] = Field(default_factory=list)
    segments: list[Segment] | None = None
