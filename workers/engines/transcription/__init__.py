"""Transcription: engines that turn speech into text."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from pipeline.kinds.transcription.transcripts import Segment
from workers.engines import never
from workers.media.audio.track import Samples

#: In order of preference.
ENGINES: Mapping[str, str] = {
    "whisper": "workers.engines.transcription.whisper.whisper:Whisper",
    "sphinx": "workers.engines.transcription.sphinx:Sphinx",
}

#: The sample rate that every engine takes, in hertz.
SAMPLE_RATE = 16_000


@dataclass(frozen=True, slots=True)
class Hearing:
    """The segments that an engine recognises, one by one; times are in seconds from the first sample.

    `language` was detected or given; in the latter case `language_probability` is None."""

    language: str
    language_probability: float | None
    segments: Iterator[Segment]


class Transcriber(ABC):
    """What every transcription engine has."""

    name: str
    #: What readers of its texts must know; None: nothing. The texts of an engine with a warning are drafts.
    warning: str | None = None

    @abstractmethod
    def languages(self) -> Sequence[str]:
        """Return the languages that it understands (ISO 639-1)."""

    def offer(self) -> Mapping[str, Any]:
        """Return the languages, for the API."""
        return {"languages": self.languages()}

    @abstractmethod
    def listen(
        self, samples: Samples, *, language: str | None, timed: bool, stop: Callable[[], bool] = never
    ) -> AbstractContextManager[Hearing]:
        """Listen to mono 16-bit samples at 16 kHz, of some minutes at most, while the `with` block lasts.

        `language` None: detect it. `timed`: each word gets its times. Raises Stopped, also while segments are read."""
