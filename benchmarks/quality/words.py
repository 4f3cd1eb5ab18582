"""Words: how many of a text are wrong, however it writes numbers, short forms and spellings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import jiwer
from num2words import num2words

from capabilities.speech.normalization.reading import spoken_form

#: Words that Whisper's own normaliser leaves different; applied after it.
SAME = (
    (re.compile(r"\b(\d+)(?:st|nd|rd|th)\b"), r"\1"),  # May 8th
    (re.compile(r"\bkm\b"), "kilometers"),
    (re.compile(r"\bkg\b"), "kilograms"),
    (re.compile(r"\bversus\b"), "vs"),
    (re.compile(r"\bsaint\b"), "st"),
    (re.compile(r"(?<=elizabeth )(?:ii|the 2)\b"), "2"),
    (re.compile(r"\b(harb|neighb|col)our"), r"\1or"),
    (re.compile(r"metre(s?)\b"), r"meter\1"),
    (re.compile(r"litre(s?)\b"), r"liter\1"),
    (re.compile(r"\be ?mail\b"), "email"),
    (re.compile(r"\b(?:[a-z] )+[a-z]\b"), lambda found: found.group().replace(" ", "")),  # p.m., U.S.
)
FIGURES = re.compile(r"\d{1,6}")
#: Languages whose figures num2words can say.
SAID_BY_NUM2WORDS = frozenset({"de", "es", "fr", "it", "pt", "ru"})
#: Languages whose letters have marks that Whisper's normaliser would drop, as Hindi's vowels.
MARKED = frozenset({"hi"})
SIGNS = re.compile(r"[।.,;:!?\"'()“”‘’–—-]+")
CLOCK = re.compile(r"(?<=\d):(?=\d\d\b)")


@dataclass(frozen=True, slots=True)
class Errors:
    """Words that are wrong, missing or too many, of so many words."""

    wrong: int
    words: int

    @property
    def share(self) -> float:
        """The word error rate."""
        return self.wrong / max(1, self.words)


def count_errors(texts: Sequence[tuple[str, str]], *, language: str = "en") -> Errors:
    """Compare pairs of what was said and what was heard."""
    said, heard = ([plain(text, language) for text in side] for side in zip(*texts, strict=True))
    found: Any = jiwer.process_words(said, heard)
    return Errors(found.substitutions + found.deletions + found.insertions, sum(len(text.split()) for text in said))


def plain(text: str, language: str = "en") -> str:
    """Return a text in the form in which texts are compared: lower case, without signs, numbers as digits."""
    if language != "en":
        # Texts have figures and short forms where others have words.
        text = spoken_form(text, language)
        if language in SAID_BY_NUM2WORDS:
            text = FIGURES.sub(lambda found: f" {num2words(int(found.group()), lang=language)} ", text)
        if language in MARKED:
            return " ".join(SIGNS.sub(" ", text.casefold()).split())
        # The prompts leave accents out.
        return " ".join(_normaliser(language)(text).split())
    text = " ".join(str(_normaliser("en")(CLOCK.sub("", text))).split())
    for pattern, same in SAME:
        text = pattern.sub(same, text)
    return text


@cache
def _normaliser(language: str) -> Any:
    from transformers.models.whisper.english_normalizer import BasicTextNormalizer, EnglishTextNormalizer

    return EnglishTextNormalizer({}) if language == "en" else BasicTextNormalizer(remove_diacritics=True)
