"""Metadata: engines that write a post's excerpt, find its category, and tag it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from workers.engines import never

#: In order of preference.
ENGINES: Mapping[str, str] = {
    "llama": "capabilities.blog.engines.metadata.llm.llama:Llama",
    "extractive": "capabilities.blog.engines.metadata.extractive.extractive:Extractive",
}
#: The setting of an endpoint that names its model of this family, and the engine on it.
ENDPOINT_MODEL, ENDPOINT = "posts", "capabilities.blog.engines.metadata.llm.endpoint:EndpointWriter"
#: Needs no model, and writes less well; its answers name a better engine.
FALLBACK = "extractive"


@dataclass(frozen=True, slots=True)
class Post:
    """A post, its content reduced to plain text; `language` is a well-formed tag.

    `prose` has the paragraphs only, with an empty line in place of headings, lists, tables and steps."""

    title: str
    text: str
    language: str
    prose: str = ""


@dataclass(frozen=True, slots=True)
class Metadata:
    """A post's excerpt of 20 to 200 characters, category, 5 to 8 tags in lower case, and confidence from 0 to 1."""

    excerpt: str
    category: str
    tags: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    category_confidence: float = 0.0


class Writer(Protocol):
    """A metadata engine."""

    name: str

    def write(self, post: Post, *, stop: Callable[[], bool] = never) -> Metadata:
        """Return a post's metadata. Raises Stopped, PressroomError."""
