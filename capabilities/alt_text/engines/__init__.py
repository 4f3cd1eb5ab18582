"""Captioning: engines that describe pictures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from capabilities.alt_text.kinds.fields import MODES, NO_HINTS, Caption, Hints, Mode
from pipeline.errors import PressroomError
from workers.engines import never
from workers.engines.tokens import Tokens, current
from workers.media.images.picture import Picture

__all__ = [
    "ENGINES",
    "FALLBACK",
    "FIRST_ON_GPU",
    "MODES",
    "NO_HINTS",
    "Caption",
    "CaptionRequest",
    "Captioner",
    "Captions",
    "Hints",
    "Mode",
]

#: In order of preference.
ENGINES: Mapping[str, str] = {
    "llama": "capabilities.alt_text.engines.llama:Llama",
    "vlm": "capabilities.alt_text.engines.vlm:Vlm",
    "basic": "capabilities.alt_text.engines.basic.basic:Basic",
}
#: The setting of an endpoint that names its model of this family, and the engine on it.
ENDPOINT_MODEL, ENDPOINT = "captions", "capabilities.alt_text.engines.endpoint:EndpointCaptioner"
#: Better where there is a GPU for them.
FIRST_ON_GPU = ("vlm",)
#: Works without a model, less well; its answers say how to get better ones.
FALLBACK = "basic"


@dataclass(frozen=True, slots=True)
class CaptionRequest:
    """A picture, the modes of the texts that are wanted, their language (ISO 639-1), and what is known of it.

    Engines whose models count tokens add them to `tokens`."""

    picture: Picture
    modes: tuple[Mode, ...]
    language: str
    hints: Hints = NO_HINTS
    tokens: Tokens = field(default_factory=current)


Captions = Mapping[Mode, Caption]


class Captioner(Protocol):
    """The interface of a captioning engine."""

    name: str
    #: Pictures that it takes at a time; more than 1 where that is faster.
    batch: int

    def languages(self) -> Sequence[str]:
        """Return the languages it writes (ISO 639-1)."""

    def caption(
        self, requests: Sequence[CaptionRequest], *, stop: Callable[[], bool] = never
    ) -> Sequence[Captions | PressroomError]:
        """Return the texts of each picture, or why it has none, in order. One pass of the image encoder a picture."""
