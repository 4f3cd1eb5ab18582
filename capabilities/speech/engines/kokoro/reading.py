"""Reading: the phonemes that Kokoro knows, of texts in its languages."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from capabilities.speech.engines.espeak.phonemes import Clause, read_clauses, read_texts
from capabilities.speech.engines.neural.alignment import align, find_words
from capabilities.speech.engines.neural.speaking import SentenceReading

SYMBOLS = Path(__file__).with_name("symbols.toml")
TIE = "^"
#: A consonant that is a syllable of its own.
SYLLABIC = re.compile("(\\S)\u0329")


@cache
def symbols() -> Mapping[str, Any]:
    """Return the tables of symbols.toml."""
    return tomllib.loads(SYMBOLS.read_text("utf-8"))


class EspeakReader:
    """Reads a language by libespeak-ng, and writes its phonemes as those that the network was trained with."""

    def __init__(self, language: str) -> None:
        of_language = symbols()["languages"][language]
        self._voice: str = of_language["espeak"]
        self._replaced: Sequence[tuple[str, str]] = [
            (old, new) for table in of_language["symbols"] for old, new in symbols()["symbols"][table]
        ]

    def read(self, sentence: str) -> SentenceReading:
        """Return the phonemes of a sentence."""
        phonemes = self._joined(read_clauses(sentence, voice=self._voice, tie=TIE))
        words = find_words(sentence)
        alone = read_texts([sentence[start:end] for start, end in words], voice=self._voice, tie=TIE)
        return SentenceReading(phonemes, align(words, [self._joined(clauses) for clauses in alone], phonemes))

    def _joined(self, clauses: Sequence[Clause]) -> str:
        """Return clauses as one string, with the signs that end them; a full stop inside belongs to an abbreviation."""
        joined = ""
        for number, clause in enumerate(clauses, start=1):
            is_abbreviation = clause.terminator == "." and number < len(clauses)
            joined += self._written(clause.phonemes) + ("" if is_abbreviation else clause.terminator) + " "
        return joined.strip()

    def _written(self, phonemes: str) -> str:
        for old, new in self._replaced:
            phonemes = phonemes.replace(old, new)
        known: Mapping[str, int] = symbols()["ids"]
        written = SYLLABIC.sub("ᵊ\\1", phonemes).replace("\u0329", "").replace(TIE, "")
        return "".join(letter for letter in written if letter in known)
