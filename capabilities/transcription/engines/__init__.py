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
    from workers.media.audio.track import Samples  # NumPy: who only lists engines needs none

#: In order of preference.
ENGINES: Mapping[str, str] = {"whisper": "capabilities.transcription.engines.whisper.whisper:Whisper"}
#: The setting of an endpoint that names its model of this family, and the engine on it.
ENDPOINT_MODEL, ENDPOINT = "transcripts", "capabilities.transcription.engines.endpoint:EndpointTranscriber"

#: The sample rate that every engine takes, in hertz.
SAMPLE_RATE = 16_000


@dataclass(frozen=True, slots=True)
class Foreign:
    """A part of a sound, in seconds, in which somebody speaks a language that the engine does not know."""

    start: float
    end: float


class Decoding(BaseModel):
    """How Whisper came to a segment's text, as it tells itself."""

    tokens: list[int]
    temperature: float
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float


class HeardSegment(Segment):
    """A segment with how it was decoded, where the engine tells."""

    decoding: Decoding | None = None

    @classmethod
    def of(cls, segment: Segment) -> "HeardSegment":
        """Return a segment as one of these; of another engine it has no decoding."""
        return segment if isinstance(segment, HeardSegment) else cls(**dict(segment))


@dataclass(frozen=True, slots=True)
class Recognition:
    """What an engine recognises, one by one and in order; times are in seconds from the first sample.

    `language` was detected or given; in the latter case `language_probability` is None."""

    language: str
    language_probability: float | None
    segments: Iterator[Segment | Foreign]


class Transcriber(ABC):
    """What every transcription engine has."""

    name: str
    #: Which of its models it runs. What another model has begun is not continued.
    model: str = ""
    #: What readers of its texts must know; None: nothing. The texts of an engine with a warning are drafts.
    warning: str | None = None
    #: Whether it can write down in English what is said in another language.
    translates: bool = False

    @abstractmethod
    def languages(self) -> Sequence[str]:
        """Return the languages that it understands (ISO 639-1)."""

    def offer(self) -> Mapping[str, Any]:
        """Return the languages, and whether it translates, for the API."""
        return {"languages": self.languages(), "translates": self.translates}

    def as_it_is(self) -> "Transcriber":
        """Return the engine with the model that it has now: a recording is heard by one model from start to end."""
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
        """Listen to mono 16-bit samples at 16 kHz, of some minutes at most, while the `with` block lasts.

        `language` None: detect it. `timed`: each word gets its times. `prompt`: names that may be said, as they are
        spelled. `translate`: in English, by an engine that `translates`; others need not take it.
        Raises Stopped, also while segments are read."""
