"""Speech: sound, the voices that make it, and when each word is heard."""

from dataclasses import dataclass
from datetime import datetime
from os import PathLike
from pathlib import Path

from pressroom.documents.document import Document
from pressroom.saving import whole_file


class Voice(Document):
    """A voice that speech can have."""

    #: What `voice=` takes.
    name: str
    id: str
    display_name: str
    language_codes: list[str]
    ssml_gender: str
    natural_sample_rate_hertz: int
    engine: str
    #: natural or robotic.
    quality: str | None = None
    #: Whether the text stays on the service's own machines.
    local: bool | None = None
    is_slow: bool | None = None


class SpokenSentence(Document):
    """When a sentence is heard, in seconds."""

    text: str
    start: float
    end: float


class SpokenWord(Document):
    """When a word is heard, in seconds."""

    word: str
    start: float
    end: float


class Timing(Document):
    """When everything is heard. `estimated`: the engine tells no times, and they go by the letters."""

    audio_url: str
    srt_url: str
    vtt_url: str
    content_type: str
    duration: float
    voice: str | None = None
    engine: str | None = None
    estimated: bool
    sentences: list[SpokenSentence]
    words: list[SpokenWord]
    credits_used: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Speech:
    """Sound, in memory or in the file that it was saved to. With `timestamps` it has `timing` and subtitles."""

    content_type: str
    job_id: str | None
    credits_used: int | None
    engine: str | None
    voice: str | None
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
        """Write the sound into a file, whole or not at all; returns its size in bytes."""
        with whole_file(to) as output:
            return output.write(self.content)


class LexiconEntry(Document):
    """A word that is said in another way."""

    word: str
    replacement: str
    language: str | None = None
    case_sensitive: bool = False


class Lexicon(Document):
    """The account's words."""

    entries: list[LexiconEntry]
    total: int
    updated_at: datetime | None = None
