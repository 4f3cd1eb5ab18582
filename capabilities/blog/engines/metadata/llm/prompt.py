"""Prompt: the instructions to a language model about a post, which is marked as data."""

import hashlib
from pathlib import Path
from typing import Any

import regex

from capabilities.blog.engines.metadata import Post
from capabilities.blog.engines.metadata.checks import FEWEST_TAGS, LONGEST_EXCERPT, MOST_TAGS, SHORTEST_EXCERPT
from capabilities.blog.engines.metadata.taxonomy import LONGEST_TAG, SHORTEST_TAG, Taxonomy
from workers.engines.languages.languages import Language

#: Signs by which chat formats tell who speaks; in a post they would let it speak as somebody else.
_CHAT_SIGNS = regex.compile(
    r"<\|[^<>|\n]{0,60}\|>|<｜[^<>｜\n]{0,60}｜>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>|<(?:bos|eos|pad|unk)>"
)

#: Characters of an excerpt that a model may write: its last sentence may end after the limit, and is cut off then.
ROOM_FOR_EXCERPT = 320

#: Tokens of an answer: an excerpt, eight tags and their frame in a script that takes two tokens a character.
LONGEST_ANSWER = 1_000
#: The share of the room that the beginning of a post gets if it is too long; its end gets the rest.
BEGINNING = 0.75

_PROMPT = Path(__file__).with_suffix(".txt").read_text("utf-8").rstrip("\n")


def schema(taxonomy: Taxonomy) -> dict[str, Any]:
    """Return the JSON schema of an answer: the lengths bounded, the category one of the taxonomy's."""
    tag = {"type": "string", "minLength": SHORTEST_TAG, "maxLength": LONGEST_TAG}
    properties: dict[str, Any] = {
        "excerpt": {"type": "string", "minLength": SHORTEST_EXCERPT, "maxLength": ROOM_FOR_EXCERPT},
        "category": {"enum": list(taxonomy.names)},
        "tags": {"type": "array", "items": tag, "minItems": FEWEST_TAGS, "maxItems": MOST_TAGS},
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def prompt(post: Post, text: str, language: Language, taxonomy: Taxonomy) -> str:
    """Return the question to the model. `text` is as much of the post as it can read."""
    # A post that could write a chat format's signs could pretend to be anybody's turn.
    title, text = _CHAT_SIGNS.sub(" ", post.title), _CHAT_SIGNS.sub(" ", text)
    # Nobody can write the mark of a post into the post: it would be another post, with another mark.
    mark = "POST-" + hashlib.sha256(f"{title}\n{text}".encode()).hexdigest()[:12]
    return _PROMPT.format(
        mark=mark,
        title=title,
        text=text,
        longest=LONGEST_EXCERPT,
        language=language.code,
        categories=", ".join(taxonomy.names),
        fewest_tags=FEWEST_TAGS,
        most_tags=MOST_TAGS,
    )
