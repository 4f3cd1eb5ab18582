"""A sentence without end is read in parts, and its words keep their places."""

import numpy as np
import pytest

from capabilities.speech.engines.neural.alignment import WordPhonemes, find_words
from capabilities.speech.engines.neural.speaking import NeuralVoice, SentenceReading, speak
from capabilities.speech.engines.neural.voiced import Frames, Voiced, timed
from workers.engines import never
from workers.engines.locks import FairLock


class Spelling(NeuralVoice):
    """Speaks a letter in 1 ms, and notes what it reads."""

    sample_rate = 16_000
    language = "en"
    most_phonemes = 400
    tells_length = True
    sentence_silence = 0.0

    def __init__(self) -> None:
        self.have_read: list[str] = []

    def read(self, sentence: str) -> SentenceReading:
        self.have_read.append(sentence)
        return SentenceReading(sentence, [WordPhonemes(start, end, start, end) for start, end in find_words(sentence)])

    def voice(self, phonemes: str, speed: float) -> Voiced:
        frames = np.ones(len(phonemes) + 2, np.float32)
        samples = np.full(16 * len(frames), 0.5, np.float32)
        return timed(samples, Frames(frames, frames, False), speed=speed, places=range(1, len(phonemes) + 2))


@pytest.mark.parametrize("text", ["lorem ipsum " * 300, "a" * 3_500, "One, two, " * 300, "漢字、" * 1_200])
def test_a_long_sentence_is_read_in_parts(text: str) -> None:
    voice = Spelling()

    words = speak(voice, text, speed=1.0, pitch=0.0, turns=FairLock(1), stop=never).words

    assert "".join(voice.have_read) == text
    assert max(len(part.strip()) for part in voice.have_read) <= 1_000
    assert words is not None
    assert {text[word.start : word.end] for word in words} <= {*text.split(), *(p.strip() for p in voice.have_read)}
