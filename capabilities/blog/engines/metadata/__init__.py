"""Metadata: engines that write a post's excerpt, find its category, and tag it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from workers.engines import never

#: In order of preference.
ENGINES: Mapping[str, str] = {
    "llama": "capabilities.blog.engines.metadata.llm.llama:Llama",
    "llm": "capabilities.blog.engines.metadata.llm.llm:Llm",
    "extractive": "capabilities.blog.engines.metadata.extractive.extractive:Extractive",
}
#: What does without a model, less well; who gets an answer of it is told what brings better.
FALLBACK = "extractive"


@dataclass(frozen=True, slots=True)
class Post:
    """A post as it was sent, its content reduced to plain text; `language` is a well-formed tag.

    `prose`: those lines of the text that are its paragraphs, no headings, lists, tables or steps, with
    an empty line where such were left out; may be empty itself."""

    title: str
    text: str
    language: str
    prose: str = ""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is said of a post: an excerpt of 20 to 200 characters, one category, 5 to 8 tags in lower case.

    `category_confidence`: from 0, nothing speaks for the category, to 1."""

    excerpt: str
    category: str
    tags: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    category_confidence: float = 0.0


class Writer(Protocol):
    """What every metadata engine has."""

    name: str

    def write(self, post: Post, *, stop: Callable[[], bool] = never) -> Metadata:
        """Return a post's metadata. Raises Stopped, PressroomError."""
