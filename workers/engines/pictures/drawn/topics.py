"""Topics: which motif and which scenes suit a post: for the thing that its title names, or else for its category."""

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

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

#: By motif: the words of categories and tags, the special motifs first; and the two scenes that suit it best.
WORDS: Mapping[str, Sequence[str]] = {motif: words.split() for motif, words in _TOPICS["words"].items()}
SCENES: Mapping[str, Sequence[str]] = _TOPICS["scenes"]

#: What can stand on a desk.
ON_DESK = frozenset(_TOPICS["on_desk"].split())

#: Motif: its words by language, those of `any` language, and the phrases in which they do `not` mean it.
SUBJECTS: Mapping[str, Mapping[str, str]] = tomllib.loads((_HERE / "subjects.toml").read_text("utf-8"))


def subject_of(title: str, tags: Sequence[str], language: str) -> str | None:
    """Return the motif of the thing that a title, or else one of its first tags, names first; None: there is none."""
    base = language.lower().replace("_", "-").partition("-")[0]
    entries = _subjects(base if base in LANGUAGES else "")
    for text in (title[:LONGEST], *tags[:FIRST_TAGS]):
        words = _others().sub("/", WITHOUT.sub("/", _words(text)))
        for place, letter in enumerate(words):
            if place == 0 or words[place - 1] in " /" or UNSPACED.match(letter):
                for entry in entries.get(letter, ()):
                    if entry.is_at(words, place):
                        return entry.motif
    return None


def motif_of(category: str, tags: Iterable[str], otherwise: str) -> str:
    """Return the motif of a category, or else of a tag; `otherwise`: nothing is known for them."""
    for text in (category, *tags):
        words = re.findall(r"\w+", text.lower())
        for motif, stems in WORDS.items():
            if any(_is_of(word, stem) for word in words for stem in stems):
                return motif
    return otherwise


@dataclass(frozen=True, slots=True)
class _Entry:
    """A word or phrase, and the motif that it stands for; `is_open`: whatever follows."""

    core: str
    motif: str
    is_first: bool
    is_last: bool
    is_open: bool

    def is_at(self, words: str, place: int) -> bool:
        """Return whether it stands at a place where a word begins."""
        if not words.startswith(self.core, place) or (self.is_first and place):
            return False
        end = place + len(self.core)
        if self.is_open:
            return True
        end += words.startswith("s", end)
        return end == len(words) or (words[end] in " /" and not self.is_last)


@cache
def _subjects(language: str) -> Mapping[str, Sequence[_Entry]]:
    """Return the entries of a language by their first letters.

    The longest come first: “番茄工作法” (a way to work) begins with “番茄” (tomatoes).
    """
    found = [
        _Entry(_words(entry), motif, entry.startswith("^"), entry.endswith("$"), _is_open(entry))
        for motif, words in SUBJECTS.items()
        for entry in _entries(words.get("any", "")) + _entries(words.get(language, ""))
    ]
    by_letter = defaultdict(list)
    for entry in sorted(found, key=lambda entry: len(entry.core), reverse=True):
        by_letter[entry.core[0]].append(entry)
    return by_letter


@cache
def _others() -> re.Pattern[str]:
    """Return a pattern of the phrases in which words mean something else."""
    entries = [entry for words in SUBJECTS.values() for entry in _entries(words.get("not", ""))]
    within = "|".join(_words(entry) for entry in entries if UNSPACED.search(entry))
    spaced = "|".join(
        _words(entry) + ("" if entry.endswith("*") else r"\b") for entry in entries if not UNSPACED.search(entry)
    )
    return re.compile(rf"\b(?:{spaced})|{within}")


def _is_open(entry: str) -> bool:
    return entry.endswith("*") or UNSPACED.search(entry) is not None


def _words(text: str) -> str:
    """Return a text's words in lower case, with a space between them."""
    plain = VOWELS.sub("", unicodedata.normalize("NFKC", text)).lower()
    return PREFIX.sub("", " ".join(re.findall(r"\w+", plain)))


def _entries(line: str) -> list[str]:
    return [" ".join(entry.split()) for entry in line.split(",") if entry.strip()]


def _is_of(word: str, stem: str) -> bool:
    if stem.endswith("*"):
        return word.startswith(stem[:-1])
    return word in (stem, stem + "s")
