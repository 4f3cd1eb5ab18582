"""Topics: the motif and the scenes of a post, by its title or else its category."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from capabilities.blog.engines.pictures import Brief

#: Most characters of a title, and most tags, that are searched for a subject.
LONGEST, FIRST_TAGS = 300, 2

#: Languages with words of their own; the words for `any` hold in all.
LANGUAGES = ("en", "es", "fr", "de", "pt", "it")

#: Languages whose compounds end with the thing, between spaces.
HEAD_LAST = ("en", "nl")

#: “Three days in Lisbon without a car” is about no car.
WITHOUT = re.compile(r"\b(?:without|sans|ohne|sin|sem|senza)(?: (?:an?|the|any|une?|una?|eine?n?|um|uma))? \w+")

UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

#: Arabic prefixes (and, with, for, the), and optional signs of vowels.
PREFIX, VOWELS = re.compile(r"\b(?:[وفبك]?ال|لل)(?=\w{3})"), re.compile(r"[\u064b-\u0652\u0640]")

_HERE = Path(__file__).parent
_TOPICS: Mapping[str, Any] = tomllib.loads((_HERE / "topics.toml").read_text("utf-8"))

#: By motif: words of the categories that it is always true for, and the scenes that suit it.
SYMBOLS: Mapping[str, Sequence[str]] = {motif: words.split() for motif, words in _TOPICS["symbols"].items()}
SCENES: Mapping[str, Sequence[str]] = _TOPICS["scenes"]

ON_DESK = frozenset(_TOPICS["on_desk"].split())

#: Motif: its words by language, those of `any` language, and phrases in which they do `not` mean it.
SUBJECTS: Mapping[str, Mapping[str, str]] = tomllib.loads((_HERE / "subjects.toml").read_text("utf-8"))


def subject_of(title: str, tags: Sequence[str], language: str) -> str | None:
    """Return the motif of the first thing that a title, or else a first tag, names, or None."""
    for text in (title[:LONGEST], *tags[:FIRST_TAGS]):
        thing, last = None, 0
        for motif, start, end in _named(text, language):
            # *Tea cakes* are cakes: the last word of a compound is the thing.
            if thing is None or (start == last + 1 and language.startswith(HEAD_LAST)):
                thing, last = motif, end
        if thing is not None:
            return thing
    return None


def subjects_in(text: str, language: str) -> frozenset[str]:
    return frozenset(motif for motif, _, _ in _named(text, language))


def _named(text: str, language: str) -> Iterator[tuple[str, int, int]]:
    base = language.lower().replace("_", "-").partition("-")[0]
    pattern, motifs = _subjects(base if base in LANGUAGES else "")
    for match in pattern.finditer(_others().sub("/", WITHOUT.sub("/", _words(text)))):
        if match.lastindex is not None:
            yield motifs[match.lastindex - 1], match.start(), match.end()


def motif_of(brief: Brief) -> str | None:
    # A tag that the summary lacks may only name the category; one from the title was read in its context already.
    title, summary = brief.title.lower(), brief.summary.lower()
    # If the category is unsure, a tag's thing may be wrong.
    first = brief.tags[:FIRST_TAGS] if brief.category else ()
    tags = [tag for tag in first if tag.lower() in summary and tag.lower() not in title]
    return subject_of(brief.title, tags, brief.language) or _symbol_of(brief.category)


def _symbol_of(category: str) -> str | None:
    words = re.findall(r"\w+", category.lower())
    for motif, stems in SYMBOLS.items():
        if any(
            word.startswith(stem[:-1]) if stem.endswith("*") else word in (stem, stem + "s")
            for word in words
            for stem in stems
        ):
            return motif
    return None


@cache
def _subjects(language: str) -> tuple[re.Pattern[str], Sequence[str]]:
    """Return a pattern with a group for each entry of a language, and the motif of each group.

    The longest come first: “番茄工作法” (a way to work) begins with “番茄” (tomatoes)."""
    found = [
        (entry, motif)
        for motif, words in SUBJECTS.items()
        for entry in _entries(words.get("any", "")) + _entries(words.get(language, ""))
    ]
    found.sort(key=lambda pair: len(_words(pair[0])), reverse=True)
    entries = "|".join(f"({_pattern(entry)})" for entry, _ in found)
    return re.compile(rf"(?:(?<![^ /])|(?={UNSPACED.pattern}))(?:{entries})"), [motif for _, motif in found]


def _pattern(entry: str) -> str:
    start, core = "^" if entry.startswith("^") else "", _words(entry)
    if entry.endswith("*") or UNSPACED.search(entry):
        return start + core
    return start + core + ("s?$" if entry.endswith("$") else "s?(?![^ /])")


@cache
def _others() -> re.Pattern[str]:
    """Return a pattern of phrases in which words mean something else."""
    entries = [entry for words in SUBJECTS.values() for entry in _entries(words.get("not", ""))]
    within = "|".join(_words(entry) for entry in entries if UNSPACED.search(entry))
    spaced = "|".join(
        _words(entry) + ("" if entry.endswith("*") else r"\b") for entry in entries if not UNSPACED.search(entry)
    )
    return re.compile(rf"\b(?:{spaced})|{within}")


def _words(text: str) -> str:
    plain = VOWELS.sub("", unicodedata.normalize("NFKC", text)).lower()
    return PREFIX.sub("", " ".join(re.findall(r"\w+", plain)))


def _entries(line: str) -> list[str]:
    return [" ".join(entry.split()) for entry in line.split(",") if entry.strip()]
