"""Wording: the words and templates of one language, from its file in wordings/.

Colours are nouns ("in white on dark blue"), so that no adjective needs a gender or number."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Self

from pydantic import BaseModel, model_validator

from capabilities.alt_text.engines import Mode
from capabilities.alt_text.engines.basic.colours import NAMES
from capabilities.alt_text.engines.basic.facts import Facts
from capabilities.alt_text.engines.basic.genres import GENRES

#: The languages that have a file (ISO 639-1).
LANGUAGES = ("en", "es", "fr", "de", "pt", "it")


class _Table(BaseModel, frozen=True, extra="forbid"):
    """A table of the file; a missing or unknown entry is an error."""


class WordingForm(_Table):
    """Templates of the first phrase or sentence; the names in braces are those of Wording.words."""

    with_text: str
    titled: str
    beginning: str
    authored: str
    coloured: str
    grey: str
    plain: str
    empty: str


class Tail(_Table):
    """Templates that may be appended to it."""

    ink_on_paper: str
    on_paper: str
    on_nothing: str
    mostly: str
    middle: str


class Further(_Table):
    """Templates of the sentences after the first."""

    also_reads: str
    mostly: str
    middle: str
    halves: str
    animated: str
    #: {place} is one of `places`: nine, row by row from the top left.
    placed: str
    places: tuple[str, str, str, str, str, str, str, str, str]


class Wording(_Table):
    """All words and templates of a language."""

    #: Words by which a text is known to be in the language.
    common_words: str
    conjunction: str
    #: The marks around a quotation, with their spaces.
    quotes: tuple[str, str]
    #: Each without an article and with it.
    nouns: Mapping[str, tuple[str, str]]
    phrase: WordingForm
    #: The same as sentences without a full stop.
    sentence: WordingForm
    tail: Tail
    further: Further
    colours: Mapping[str, str]
    #: Colours in "on a … background", if they differ from the plain names.
    papers: Mapping[str, str] = {}
    #: The article of most colours, and of those that have another.
    article: str = ""
    articles: Mapping[str, str] = {}
    #: The same for the partitive, as French "du bleu".
    partitive: str = ""
    partitives: Mapping[str, str] = {}
    #: What the verb of "dominates" ends in, for one colour and for several.
    endings: tuple[str, str] = ("", "")

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if set(self.nouns) != {*GENRES, "grey_photo", "grey_picture"} or set(self.colours) != set(NAMES):
            raise ValueError("the nouns are the genres, grey_photo and grey_picture, the colours those of NAMES")
        if self.papers and set(self.papers) != set(NAMES):
            raise ValueError("papers has all colours or none")
        return self

    @property
    def marks(self) -> int:
        """How many characters a quotation in a list needs besides its text."""
        return sum(map(len, self.quotes)) + 2

    def form(self, mode: Mode) -> WordingForm:
        """Return the templates of a mode's first words."""
        return self.phrase if mode == "short" else self.sentence

    def words(self, facts: Facts) -> Mapping[str, str]:
        """Return the values of the names in braces in templates, all but {quotes}."""
        plain = self.colours
        definite = {name: self.articles.get(name, self.article) + colour for name, colour in plain.items()}
        some = {name: self.partitives.get(name, self.partitive) + colour for name, colour in plain.items()}
        kind = "picture" if facts.genre == "photo" and not facts.is_photo else facts.genre
        noun, the = self.nouns[f"grey_{kind}" if facts.is_grey_photo else kind]
        first = facts.colours[0]
        paper, middle, (top, bottom) = facts.paper or first, facts.middle or first, facts.halves or (first, first)
        return {
            "noun": noun,
            "the": the,
            "plain_noun": self.nouns[kind][1],
            "colours": self.listed([plain[name] for name in facts.colours]),
            "definite": self.listed([definite[name] for name in facts.colours]),
            "some": self.listed([some[name] for name in facts.colours]),
            "ending": self.endings[len(facts.colours) > 1],
            "ink": plain[facts.ink or first],
            "colour": plain[paper],
            "paper": self.papers.get(paper, plain[paper]),
            "top": definite[top],
            "bottom": definite[bottom],
            "middle": plain[middle],
            "the_middle": definite[middle],
        }

    def quoted(self, texts: Sequence[str]) -> str:
        """Return texts in quotation marks, without the full stops at their ends."""
        opening, closing = self.quotes
        return self.listed([opening + text.removesuffix(".") + closing for text in texts])

    def listed(self, things: Sequence[str]) -> str:
        """Return "a, b and c"."""
        *others, last = things or [""]
        return f"{', '.join(others)} {self.conjunction} {last}" if others else last


@cache
def wording_of(language: str) -> Wording:
    """Return the wording of one of LANGUAGES."""
    file = resources.files("capabilities.alt_text.engines.basic") / "wordings" / f"{language}.toml"
    return Wording.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
