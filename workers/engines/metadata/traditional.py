"""Traditional: Chinese as Taiwan and Hong Kong write it, for what is known of Chinese in simplified characters."""

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    pairs: str
    words: dict[str, str]


_KNOWN = _File.model_validate(tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")))
_PAIRS = "".join(_KNOWN.pairs.split())
_SIMPLIFIED, _TRADITIONAL = _PAIRS[::2], _PAIRS[1::2]
_TO_TRADITIONAL = str.maketrans(_SIMPLIFIED, _TRADITIONAL)


def traditional(text: str) -> str:
    """Return a text of the taxonomy or of the languages' words in traditional characters."""
    for word, written in _KNOWN.words.items():
        text = text.replace(word, written)
    return text.translate(_TO_TRADITIONAL)


def is_traditional(text: str, *, otherwise: bool) -> bool:
    """Return whether a Chinese text is in traditional characters; `otherwise`, where it has no character that tells."""
    ours = sum(character in _TRADITIONAL for character in text)
    theirs = sum(character in _SIMPLIFIED for character in text)
    return otherwise if ours == theirs else ours > theirs
