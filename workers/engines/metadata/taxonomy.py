"""Taxonomy: the categories that posts are sorted into, and the words by which each is known."""

import tomllib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipeline.errors import NotReady
from workers.engines.metadata.languages import TRADITIONAL_CHINESE
from workers.engines.metadata.traditional import traditional

#: Characters of a tag, at least and at most (docs/blog.md).
SHORTEST_TAG, LONGEST_TAG = 2, 40


class _Words(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tags: str = ""
    cues: str = ""


class _Category(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, _Words] = Field(init=False)
    name: str = Field(min_length=1, max_length=60)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    fallback: str
    category: list[_Category] = Field(min_length=1, max_length=200)

    @model_validator(mode="after")
    def _names(self) -> "_File":
        names = [category.name for category in self.category]
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise ValueError(f"these names stand twice: {', '.join(doubled)}")
        if self.fallback not in names:
            raise ValueError(f"fallback {self.fallback!r} is none of the categories")
        return self


@dataclass(frozen=True, slots=True)
class Category:
    """A category: its name, and by language its tags and the cues that speak for it."""

    name: str
    tags: Mapping[str, tuple[str, ...]]
    cues: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Cues:
    """The cues of one language: words, beginnings of words and phrases, each with the categories it speaks for.

    A phrase has a space at its end, unless any ending may follow."""

    words: Mapping[str, frozenset[str]]
    stems: Mapping[str, frozenset[str]]
    phrases: Mapping[str, frozenset[str]]
    shortest_stem: int = 3

    def of_word(self, word: str) -> frozenset[str]:
        """Return the categories that a word in lower case speaks for."""
        if found := self.words.get(word):
            return found
        # The longest stem that fits: `gift*` says less than `gift shop*`.
        for length in range(len(word), self.shortest_stem - 1, -1):
            if found := self.stems.get(word[:length]):
                return found
        return frozenset()


@dataclass(frozen=True)
class Taxonomy:
    """All categories, and the one for posts that no other's cues are found in."""

    categories: tuple[Category, ...]
    fallback: str
    _cues: dict[str, Cues] = field(default_factory=dict, compare=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names of all categories, in the file's order."""
        return tuple(category.name for category in self.categories)

    def cues(self, language: str) -> Cues:
        """Return the cues of a language; those of English where the taxonomy has none."""
        if language not in self._cues:
            self._cues[language] = _cues(self.categories, language)
        return self._cues[language]

    def own_tags(self, name: str, language: str) -> tuple[str, ...]:
        """Return a category's tags in a language; English ones, or its name, where the whole taxonomy lacks it."""
        category = self._named(name)
        if language in category.tags:
            return category.tags[language]
        # English words among Hebrew ones are worse than the fallback's.
        return () if self._named(self.fallback).tags.get(language) else category.tags.get("en") or (name.lower(),)

    def spare_tags(self, name: str, language: str) -> tuple[str, ...]:
        """Return what fills up the tags of a post: its category's, and then the fallback's."""
        return (*self.own_tags(name, language), *self.own_tags(self.fallback, language))

    def _named(self, name: str) -> Category:
        return next(category for category in self.categories if category.name == name)


def load_taxonomy(path: str | None = None) -> Taxonomy:
    """Return the taxonomy of a TOML file, or the one that is shipped. Raises NotReady, saying what is wrong with it."""
    source = Path(path) if path else resources.files("workers.engines.metadata") / "categories.toml"
    try:
        parsed = _File.model_validate(tomllib.loads(source.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise NotReady(f"PRESSROOM_METADATA__CATEGORIES={path}: {error}. docs/blog.md has the format.") from error
    except ValidationError as error:
        found = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors()[:5])
        raise NotReady(f"PRESSROOM_METADATA__CATEGORIES={path}: {found}. docs/blog.md has the format.") from error
    return Taxonomy(tuple(_category(category) for category in parsed.category), parsed.fallback)


def _category(parsed: _Category) -> Category:
    by_language: dict[str, _Words] = parsed.__pydantic_extra__
    tags = {language: _listed(words.tags) for language, words in by_language.items()}
    for language, listed in tags.items():
        for tag in listed:
            if not SHORTEST_TAG <= len(tag) <= LONGEST_TAG:
                raise NotReady(
                    f"PRESSROOM_METADATA__CATEGORIES: the tag {tag!r} of {parsed.name} ({language}) has {len(tag)} "
                    f"characters; a tag has {SHORTEST_TAG} to {LONGEST_TAG}."
                )
    cues = {language: (*_listed(words.cues), *tags[language]) for language, words in by_language.items()}
    for known in (tags, cues):
        if "zh" in known:
            known.setdefault(TRADITIONAL_CHINESE, tuple(map(traditional, known["zh"])))
    return Category(parsed.name, tags, cues)


def _listed(line: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in (" ".join(part.lower().split()) for part in line.split(",")) if word))


def _cues(categories: tuple[Category, ...], language: str) -> Cues:
    words: dict[str, set[str]] = defaultdict(set)
    stems: dict[str, set[str]] = defaultdict(set)
    phrases: dict[str, set[str]] = defaultdict(set)
    for category in categories:
        # A taxonomy without cues still has names.
        cues: Any = category.cues.get(language) or category.cues.get("en") or _listed(category.name.replace("&", ","))
        for cue in cues:
            kind = phrases if " " in cue else stems if cue.endswith("*") else words
            core = cue.rstrip("*")
            kind[f"{core} " if kind is phrases and core == cue else core].add(category.name)
    shortest = min(map(len, stems), default=1)
    return Cues(_frozen(words), _frozen(stems), _frozen(phrases), shortest)


def _frozen(found: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {cue: frozenset(names) for cue, names in found.items()}
