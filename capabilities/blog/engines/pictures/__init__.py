"""Pictures: engines that make covers for posts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.errors import PressroomError
from workers.engines import never

#: In order of preference.
ENGINES: Mapping[str, str] = {
    "diffusion": "capabilities.blog.engines.pictures.diffusion.diffusion:Diffusion",
    "drawn": "capabilities.blog.engines.pictures.drawn.drawn:Drawn",
}
#: The setting of an endpoint that names its model of this family, and the engine on it.
ENDPOINT_MODEL, ENDPOINT = "covers", "capabilities.blog.engines.pictures.endpoint:EndpointPainter"
#: What does without a model, less well; who gets an answer of it is told what brings better.
FALLBACK = "drawn"


#: The looks (`Painted.look`) of the pictures of an account's other posts, the last post's first.
Recent = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Brief:
    """The post that pictures are made for, and their style, one of STYLES; `summary` and `tags` are its metadata's.

    `with_title`: whether pictures that can bear the title do. Pictures should look like none in `recent`.
    `attempt`: how often pictures for the same post were made before, and not good; another one gives others."""

    title: str
    summary: str
    category: str
    tags: tuple[str, ...]
    style: str
    language: str
    with_title: bool = True
    recent: Recent = ()
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Painted:
    """A picture: the file's bytes, the style it really has, and a description in the brief's language.

    `is_seen` is False if the description only says what the picture was made for.
    `warnings` say, in English, how it differs from what was asked for; pictures of one request may repeat them.
    `look` names what makes it look as it does, for the `recent` of later briefs.
    """

    data: bytes
    content_type: str
    style: str
    description: str
    warnings: tuple[str, ...] = ()
    is_seen: bool = True
    look: str = ""


class Painter(Protocol):
    """What every pictures engine has."""

    name: str

    def styles(self) -> Sequence[str]:
        """Return the styles it can truly make."""

    def paint(
        self, brief: Brief, *, count: int, stop: Callable[[], bool] = never
    ) -> Sequence[Painted | PressroomError]:
        """Return `count` pictures, each clearly another, or why there is none. Raises Stopped."""


#: The styles that can be asked for.
STYLES = ("realistic", "illustration", "abstract", "minimalist", "photographic")
