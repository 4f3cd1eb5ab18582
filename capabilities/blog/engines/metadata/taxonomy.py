"""Taxonomy: the categories of posts, and the words that suggest each."""

import tomllib
from collections import defaultdict
from collections.abc import Set as AbstractSet
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from pipeline.errors import NotReady
from workers.engines.languages.languages import TRADITIONAL_CHINESE, traditional

#: Characters of a tag, at least and at most (docs/blog.md).
SHORTEST_TAG, LONGEST_TAG = 2, 40


def _listed(line: object) -> tuple[str, ...]:
    if not isinstance(line, str):
        raise ValueError("Input should be a valid string")  # noqa: TRY004  # pydantic translates no TypeError
    return tuple(dict.fromkeys(word for word in (" ".join(part.lower().split()) for part in line.split(",")) if word))


_Line = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class Words(BaseModel):
    """The words of a category in one language; a * ends a cue with any ending. Tags are cues as well."""

    model_config = ConfigDict(extra="forbid")
    tags: _Line = ()
    cues: _Line = ()


class Category(BaseModel):
    """A category; its extra fields are the words of each language."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Words] = Field(init=False)
    name: str = Field(min_length=1, max_length=60)
    #: True if places, such as Lisbon, suggest it.
    places: bool = False

    @model_validator(mode="after")
    def _complete(self) -> "Category":
        for language, words in self.words.items():
            for tag in words.tags:
                if not SHORTEST_TAG <= len(tag) <= LONGEST_TAG:
                    raise ValueError(
                        f"the tag {tag!r} of {self.name} ({language}) has {len(tag)} characters; "
                        f"a tag has {SHORTEST_TAG} to {LONGEST_TAG}"
                    )
        if (zh := self.words.get("zh")) and TRADITIONAL_CHINESE not in self.words:
            tags, cues = (tuple(map(traditional, words)) for words in (zh.tags, zh.cues))
            self.words[TRADITIONAL_CHINESE] = Words.model_construct(tags=tags, cues=cues)
        return self

    @property
    def words(self) -> dict[str, Words]:
        return self.__pydantic_extra__

    def cues_in(self, language: str) -> tuple[str, ...]:
        """Return its cues and tags in a language, else in English, else the words of its name."""
        for words in (self.words.get(language), self.words.get("en")):
            if words and (words.cues or words.tags):
                return words.cues + words.tags
        return _listed(self.name.replace("&", ","))


class Cues:
    """The cues of one language: words, stems and phrases, each with its categories."""

    def __init__(self, categories: list[Category], language: str) -> None:
        self.words: dict[str, set[str]] = defaultdict(set)
        self.stems: dict[str, set[str]] = defaultdict(set)
        self.phrases: dict[str, set[str]] = defaultdict(set)
        for category in categories:
            for cue in category.cues_in(language):
                core = cue.rstrip("*")
                if " " in cue:
                    # A space at its end, unless any ending may follow.
                    self.phrases[core if core != cue else f"{cue} "].add(category.name)
                else:
                    (self.stems if core != cue else self.words)[core].add(category.name)
        self._shortest_stem = min(map(len, self.stems), default=1)

    def of_word(self, word: str) -> AbstractSet[str]:
        if found := self.words.get(word):
            return found
        # The longest stem: `gift*` says less than `gift shop*`.
        for length in range(len(word), self._shortest_stem - 1, -1):
            if found := self.stems.get(word[:length]):
                return found
        return frozenset()


class Taxonomy(BaseModel):
    """All categories, and the fallback for posts that suggest no other."""

    model_config = ConfigDict(extra="forbid")
    fallback: str
    category: list[Category] = Field(min_length=1, max_length=200)
    _cues: dict[str, Cues] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _check_names(self) -> "Taxonomy":
        doubled = sorted({name for name in self.names if self.names.count(name) > 1})
        if doubled:
            raise ValueError(f"these names stand twice: {', '.join(doubled)}")
        if self.fallback not in self.names:
            raise ValueError(f"fallback {self.fallback!r} is none of the categories")
        return self

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(category.name for category in self.category)

    def cues(self, language: str) -> Cues:
        if language not in self._cues:
            self._cues[language] = Cues(self.category, language)
        return self._cues[language]

    def own_tags(self, name: str, language: str) -> tuple[str, ...]:
        """Return a category's tags in a language; English ones or its name if the taxonomy lacks the language."""
        words, default = (self.category[self.names.index(one)].words for one in (name, self.fallback))
        if language in words:
            return words[language].tags
        # English words among Hebrew ones are worse than the fallback's.
        if language in default and default[language].tags:
            return ()
        return (words["en"].tags if "en" in words else ()) or (name.lower(),)

    def spare_tags(self, name: str, language: str) -> tuple[str, ...]:
        """Return tags that fill up a post's own: the category's first one, and the fallback's.

        The category's other tags may be untrue: a post on dogs is not about cats."""
        return (*self.own_tags(name, language)[:1], *self.own_tags(self.fallback, language))


def load_taxonomy(path: str | None = None) -> Taxonomy:
    """Return the taxonomy in a TOML file, or the shipped one. Raises NotReady with the file's fault."""
    source = Path(path) if path else resources.files("capabilities.blog.engines.metadata") / "categories.toml"
    try:
        return Taxonomy.model_validate(tomllib.loads(source.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _unusable(path, str(error)) from error
    except ValidationError as error:
        found = (f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors()[:5])
        raise _unusable(path, "; ".join(found)) from error


def _unusable(path: str | None, fault: str) -> NotReady:
    return NotReady(f"PRESSROOM_METADATA__CATEGORIES={path}: {fault}. docs/blog.md has the format.")
