"""Wording: the words and templates of descriptions in six languages, and the names of colours.

Colours are nouns ("in green on white"), so that no adjective needs a gender or number."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
LANGUAGES: tuple[str, ...] = tuple(_FILE["languages"])
#: Names of colours, each with typical tones in hexadecimal.
TONES: Mapping[str, str] = {name: tones for name, (tones, *_) in _FILE["colours"].items()}


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a language by their names in words.toml; `colours` are the names of colours."""

    words: Mapping[str, str]
    colours: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.words[name]

    @property
    def marks(self) -> int:
        """Characters that a quotation in a list needs besides its text."""
        return len(self["opening"] + self["closing"]) + 2

    def quoted(self, texts: Sequence[str]) -> str:
        return self.listed([self["opening"] + text.removesuffix(".") + self["closing"] for text in texts])

    def painted(self, colours: Sequence[str], paper: str | None) -> str:
        """Return "green and red on white"."""
        named = self.listed([self.colours[colour] for colour in colours])
        return self["on"].format(colours=named, paper=self.colours[paper]) if paper else named

    def listed(self, things: Sequence[str]) -> str:
        """Return "a, b and c"."""
        *others, last = things or [""]
        return f"{', '.join(others)} {self['conjunction']} {last}" if others else last


@cache
def wording_of(language: str) -> Wording:
    place = LANGUAGES.index(language)
    words = {name: forms[place] for name, forms in _FILE["words"].items()}
    return Wording(words, {name: forms[place] for name, (_, *forms) in _FILE["colours"].items()})
