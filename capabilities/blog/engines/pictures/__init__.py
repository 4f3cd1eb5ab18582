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
#: Needs no model, and paints less well; its answers name a better engine.
FALLBACK = "drawn"

#: The looks (`Painted.look`) of an account's other posts, last post first.
Recent = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Brief:
    """The post to make pictures for, and their style, one of STYLES; `summary` and `tags` are its metadata's.

    `with_title`: whether drawn pictures show the title. `recent`: looks to avoid. `attempt`: the number of earlier,
    rejected pictures; another number gives other pictures."""

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
    """A picture: the file's bytes, its actual style, and a description in the brief's language.

    `is_seen` is False if the description only repeats the request. `warnings` name differences from the request, in
    English. `look` names design, palette and motif, for the `recent` of later briefs."""

    data: bytes
    content_type: str
    style: str
    description: str
    warnings: tuple[str, ...] = ()
    is_seen: bool = True
    look: str = ""


class Painter(Protocol):
    """A pictures engine."""

    name: str

    def styles(self) -> Sequence[str]:
        """Return the styles that it can truly make."""

    def paint(
        self, brief: Brief, *, count: int, stop: Callable[[], bool] = never
    ) -> Sequence[Painted | PressroomError]:
        """Return `count` different pictures, or errors in their place. Raises Stopped."""


STYLES = ("realistic", "illustration", "abstract", "minimalist", "photographic")
