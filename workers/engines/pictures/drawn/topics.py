"""Topics: which motif and which scenes suit a post, by the words of its category and tags."""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    on_desk: str
    words: dict[str, str]
    scenes: dict[str, tuple[str, str]]


_TOPICS = _File.model_validate(tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")))

#: Motif: its words, the special motifs first.
WORDS = {motif: words.split() for motif, words in _TOPICS.words.items()}

#: Motif: the two scenes that suit it best.
SCENES = _TOPICS.scenes

#: What can stand on a desk.
ON_DESK = frozenset(_TOPICS.on_desk.split())


def motif_of(category: str, tags: Iterable[str], otherwise: str) -> str:
    """Return the motif of a category, or else of a tag; `otherwise`: nothing is known for them."""
    for text in (category, *tags):
        words = re.findall(r"\w+", text.lower())
        for motif, stems in WORDS.items():
            if any(_is_of(word, stem) for word in words for stem in stems):
                return motif
    return otherwise


def _is_of(word: str, stem: str) -> bool:
    if stem.endswith("*"):
        return word.startswith(stem[:-1])
    return word in (stem, stem + "s")
