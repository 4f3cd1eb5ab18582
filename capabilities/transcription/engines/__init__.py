"""Transcription: engines that turn speech into text."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from pipeline.subtitles.segments import Segment
from workers.engines import never

if TYPE_CHECKING:
    from workers.media.audio.track import Samples  # NumPy, which listing engines does not need

#: In order of preference.
ENGINES: Mapping[str, str] = {"whisper": "capabilities.transcription.engines.whisper.whisper:Whisper"}
#: The setting of an endpoint that names its model of this family, and the engine on it.
ENDPOINT_MODEL, ENDPOINT = "transcripts", "capabilities.transcription.engines.endpoint:EndpointTranscriber"
#: The sample rate of every engine, in hertz.
SAMPLE_RATE = 16_000


class Decoding(BaseModel):
    """How Whisper decoded a segment, by its own account."""

    tokens: list[int]
    temperature: float
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float


class HeardSegment(Segment):
    """A segment, with how it was decoded if the engine tells."""

    decoding: Decoding | None = None

    @classmethod
    def of(cls, segment: Segment) -> "HeardSegment":
        """Return a segment of any engine as one of these."""
        return segment if isinstance(segment, HeardSegment) else cls(**dict(segment))


@dataclass(frozen=True, slots=True)
class Recognition:
    """The segments of a sound in order, as they are recognised; times are in seconds from its first sample.

    `language` is that of the first speech; `language_probability` is None if it was given and not detected."""

    language: str
    language_probability: float | None
    segments: Iterator[Segment]
    #: False if the engine told no times, and the text is one segment.
    has_times: bool = True


class Transcriber(ABC):
    """A transcription engine."""

    name: str
    #: The model that it runs. Another model does not continue its transcripts.
    model: str = ""
    #: A warning for readers of its texts, which are drafts then.
    warning: str | None = None
    #: True if it can translate into English.
    translates: bool = False
    #: True if it hears where the language changes. It is then given the language so far as `likely`.
    tells_changes: bool = False
    #: True if it works on another machine, so that others may listen here meanwhile.
    is_remote: bool = False

    @abstractmethod
    def languages(self) -> Sequence[str]:
        """Return the languages that it understands (ISO 639-1)."""

    def offer(self) -> Mapping[str, Any]:
        """Return its languages, and whether it translates, for the API."""
        return {"languages": self.languages(), "translates": self.translates}

    def as_it_is(self) -> "Transcriber":
        """Return the engine fixed to its present model, which then hears a recording from start to end."""
        return self

    @abstractmethod
    def listen(
        self,
        samples: "Samples",
        *,
        language: str | None,
        timed: bool,
        prompt: str | None = None,
        translate: bool = False,
        stop: Callable[[], bool] = never,
    ) -> AbstractContextManager[Recognition]:
        """Listen to mono 16-bit samples at 16 kHz, some minutes at most, while the `with` block lasts.

        `language`: None to detect it. `timed`: with the times of words. `prompt`: names as they are spelled.
        `translate`: into English; engines that don't `translates` need not take it. Raises Stopped, also while segments
        are read."""
