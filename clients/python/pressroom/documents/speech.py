"""Speech: sound, voices, timings, and transcripts of recordings."""

from dataclasses import dataclass, field
from datetime import datetime
from os import PathLike
from pathlib import Path

from pressroom.documents import Document
from pressroom.files import whole_file


class Voice(Document):
    """A voice for speech; `name` is what `voice=` takes."""

    name: str
    id: str
    display_name: str
    language_codes: list[str]
    ssml_gender: str
    natural_sample_rate_hertz: int
    engine: str
    quality: str | None = None  #: natural or robotic
    local: bool | None = None  #: whether the text stays on the service's own machines
    is_slow: bool | None = None


class SpokenSentence(Document):
    """A sentence, and its time in seconds."""

    text: str
    start: float
    end: float


class SpokenWord(Document):
    """A word, and its time in seconds."""

    word: str
    start: float
    end: float


class Timing(Document):
    """The times of sentences and words. `estimated`: by their letters, as the engine reports no times."""

    audio_url: str
    srt_url: str
    vtt_url: str
    content_type: str
    duration: float
    voice: str | None = None
    engine: str | None = None
    origin: str | None = None
    warnings: list[str] = field(default_factory=list)
    estimated: bool
    sentences: list[SpokenSentence]
    words: list[SpokenWord]
    credits_used: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Speech:
    """Sound, in memory or in a file. With `timestamps` it has `timing` and subtitles."""

    content_type: str
    job_id: str | None
    credits_used: int | None
    engine: str | None
    voice: str | None
    warning: str | None = None  #: which voice would suit the text better, and how it comes
    file: Path | None = None
    timing: Timing | None = None
    srt: str | None = None
    vtt: str | None = None
    held: bytes = b""

    @property
    def content(self) -> bytes:
        """The sound."""
        return self.held if self.file is None else self.file.read_bytes()

    def save(self, to: str | PathLike[str]) -> int:
        """Write the sound into a file, whole or not at all; return its size in bytes."""
        with whole_file(to) as output:
            return output.write(self.content)


class LexiconEntry(Document):
    """A word, and how to say it."""

    word: str
    replacement: str
    language: str | None = None
    case_sensitive: bool = False


class Lexicon(Document):
    """The account's pronunciations."""

    entries: list[LexiconEntry]
    total: int
    updated_at: datetime | None = None


class TranscribedWord(SpokenWord):
    """A word of a recording."""

    probability: float | None = None


class Segment(Document):
    """A few words of a recording that belong together."""

    start: float
    end: float
    text: str
    probability: float | None = None
    words: list[TranscribedWord] | None = None
    speaker: str | None = None  #: with diarize


class Transcript(Document):
    """The text of a recording, with times."""

    text: str
    language: str  #: ISO 639-1; auto where nothing was heard to detect it by
    language_probability: float | None = None
    duration: float  #: seconds
    credits_used: int
    draft: bool = False  #: whether a light engine made it, and a person should check it
    warnings: list[str] = field(default_factory=list)
    speakers: list[str] | None = None  #: in the order of their first words, with diarize
    segments: list[Segment] | None = None
