"""Reader: the phonemes of a language by libespeak-ng, for networks that were trained with them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from capabilities.speech.engines.espeak.phonemes import Clause, read_texts
from capabilities.speech.engines.neural.alignment import align, find_words
from capabilities.speech.engines.neural.speaking import SentenceReading


class EspeakReader(ABC):
    """Reads by one of the library's voices; a subclass knows the signs of its network."""

    #: Put between the letters of one sound.
    tie = ""

    def __init__(self, voice: str) -> None:
        self._voice = voice

    @abstractmethod
    def written(self, phonemes: str) -> str:
        """Return phonemes as the network knows them."""

    def sign(self, terminator: str) -> str:
        """Return the network's sign for the end of a clause."""
        return terminator

    def read(self, sentence: str) -> SentenceReading:
        """Return the phonemes of a sentence and of its words."""
        words = find_words(sentence)
        texts = [sentence, *(sentence[start:end] for start, end in words)]
        phonemes, *alone = map(self._joined, read_texts(texts, voice=self._voice, tie=self.tie))
        return SentenceReading(phonemes, align(words, alone, phonemes))

    def _joined(self, clauses: Sequence[Clause]) -> str:
        """Return clauses with the signs that end them; a full stop inside belongs to an abbreviation."""
        joined = ""
        for number, clause in enumerate(clauses, start=1):
            sign = self.sign(clause.terminator)
            joined += self.written(clause.phonemes) + ("" if sign == "." and number < len(clauses) else sign) + " "
        return joined.strip()
