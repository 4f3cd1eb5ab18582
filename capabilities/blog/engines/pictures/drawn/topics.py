"""Topics: which motif and which scenes suit a post: what its title names, or else what is true for its category."""

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from capabilities.blog.engines.pictures import Brief

#: A title's words are looked through up to here: what a post is about stands before.
LONGEST = 300

#: Further tags may be of things that are only mentioned.
FIRST_TAGS = 2

#: The languages that have words of their own; the words for `any` hold in all.
LANGUAGES = ("en", "es", "fr", "de", "pt", "it")

#: “Three days in Lisbon without a car” is about no car.
WITHOUT = re.compile(r"\b(?:without|sans|ohne|sin|sem|senza)(?: (?:an?|the|any|une?|una?|eine?n?|um|uma))? \w+")

#: Letters of scripts in which a word is found within others.
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

#: What Arabic writes to a word (and, with, for, the), and its signs of vowels, which are mostly left out.
PREFIX, VOWELS = re.compile(r"\b(?:[وفبك]?ال|لل)(?=\w{3})"), re.compile(r"[\u064b-\u0652\u0640]")

_HERE = Path(__file__).parent
_TOPICS: Mapping[str, Any] = tomllib.loads((_HERE / "topics.toml").read_text("utf-8"))

#: By motif: the words of categories that it is true for, whatever their posts are about; and the scenes that suit it.
SYMBOLS: Mapping[str, Sequence[str]] = {motif: words.split() for motif, words in _TOPICS["symbols"].items()}
SCENES: Mapping[str, Sequence[str]] = _TOPICS["scenes"]

#: What can stand on a desk.
ON_DESK = frozenset(_TOPICS["on_desk"].split())

#: Motif: its words by language, those of `any` language, and the phrases in which they do `not` mean it.
SUBJECTS: Mapping[str, Mapping[str, str]] = tomllib.loads((_HERE / "subjects.toml").read_text("utf-8"))


def subject_of(title: str, tags: Sequence[str], language: str) -> str | None:
    """Return the motif of the thing that a title, or else one of its first tags, names first; None: there is none."""
    base = language.lower().replace("_", "-").partition("-")[0]
    pattern, motifs = _subjects(base if base in LANGUAGES else "")
    for text in (title[:LONGEST], *tags[:FIRST_TAGS]):
        found = pattern.search(_others().sub("/", WITHOUT.sub("/", _words(text))))
        if found is not None and found.lastindex is not None:
            return motifs[found.lastindex - 1]
    return None


def subjects_in(text: str, language: str) -> frozenset[str]:
    """Return the motifs of all things that a text names."""
    base = language.lower().replace("_", "-").partition("-")[0]
    pattern, motifs = _subjects(base if base in LANGUAGES else "")
    found = pattern.finditer(_others().sub("/", WITHOUT.sub("/", _words(text))))
    return frozenset(motifs[match.lastindex - 1] for match in found if match.lastindex is not None)


def motif_of(brief: Brief) -> str | None:
    """Return the motif of what a post is about, or else one that is true for its category; None: there is none."""
    # A tag that the summary has not may only say what the category is. One of the title's words was looked at with
    # those around it, which may give it another meaning.
    title, summary = brief.title.lower(), brief.summary.lower()
    # Where nobody is sure of the category, a tag's thing may be the wrong one.
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
    """Return a pattern that has a group for each entry of a language, and the motif of each group.

    The longest come first: “番茄工作法” (a way to work) begins with “番茄” (tomatoes).
    """
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
    """Return a pattern of the phrases in which words mean something else."""
    entries = [entry for words in SUBJECTS.values() for entry in _entries(words.get("not", ""))]
    within = "|".join(_words(entry) for entry in entries if UNSPACED.search(entry))
    spaced = "|".join(
        _words(entry) + ("" if entry.endswith("*") else r"\b") for entry in entries if not UNSPACED.search(entry)
    )
    return re.compile(rf"\b(?:{spaced})|{within}")


def _words(text: str) -> str:
    """Return a text's words in lower case, with a space between them."""
    plain = VOWELS.sub("", unicodedata.normalize("NFKC", text)).lower()
    return PREFIX.sub("", " ".join(re.findall(r"\w+", plain)))


def _entries(line: str) -> list[str]:
    return [" ".join(entry.split()) for entry in line.split(",") if entry.strip()]
