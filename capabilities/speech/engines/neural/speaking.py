"""Speaking: how any speech network speaks a text, sentence by sentence, with all the controls."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from capabilities.speech.engines import NothingToSpeak
from capabilities.speech.engines.espeak.sonic import load_sonic
from capabilities.speech.engines.neural.alignment import WordPhonemes
from capabilities.speech.engines.neural.voiced import Voiced, encoded, levelled
from capabilities.speech.engines.utterance import SpokenWord, Utterance
from capabilities.speech.normalization.sentences import sentences, split_text
from workers.engines import Stopped
from workers.engines.locks import FairLock
from workers.media.audio.pcm import SAMPLE_BYTES, Pcm

#: Where phonemes are split if they are too many for a network, best first.
SPLITS = (";:!?.…—", ",", " ")
#: Characters of a sentence that are read at a time. Aligning words takes time in the square of them: 0.06 s for 1,000,
#: 3.8 s for 8,000. A lexicon can make such sentences.
MOST_CHARACTERS = 1_000
#: How far the length may be off before Sonic corrects it: whole frames miss a speed by some hundredths.
TOLERANCE = 0.02


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """The phonemes of a sentence, a character each, and the phonemes of each of its words."""

    phonemes: str
    words: Sequence[WordPhonemes] = ()


class NeuralVoice(ABC):
    """A loaded voice: it reads sentences, and speaks what it has read."""

    sample_rate: int
    #: The tag of the language in which it reads.
    language: str
    #: Phonemes that it speaks at a time.
    most_phonemes: int
    #: Speeds that it renders itself; Sonic does the rest. A slow network renders a text once, at its natural pace.
    native_speeds: tuple[float, float] = (0.5, 2.0)
    #: True if its durations tell the length at another speed. Without the silence around a sentence, they miss
    #: it by a tenth of a second per sentence, so the natural length is measured.
    tells_length: bool
    #: Seconds of silence after a sentence, added to the network's own.
    sentence_silence: float

    @abstractmethod
    def read(self, sentence: str) -> SentenceReading:
        """Return the phonemes of a sentence; none if it has no word."""

    @abstractmethod
    def voice(self, phonemes: str, speed: float) -> Voiced:
        """Return phonemes as sound, at one of its native speeds."""


class _Recording:
    """The part of a text that has been spoken."""

    def __init__(self, sample_rate: int, speed: float) -> None:
        self._sample_rate, self._speed = sample_rate, speed
        self.samples = bytearray()
        #: The length at speed 1, in samples.
        self.natural = 0.0
        self._words: list[SpokenWord] | None = []

    def append_silence(self, seconds: float) -> None:
        self.samples += bytes(round(seconds / self._speed * self._sample_rate) * SAMPLE_BYTES)
        self.natural += seconds * self._sample_rate

    def append(self, voiced: Voiced, words: Sequence[WordPhonemes], *, place: int, first: int) -> None:
        """Append the phonemes from `first` on of a sentence that begins at `place` of the text."""
        start = len(self.samples) / SAMPLE_BYTES
        self.samples += encoded(levelled(voiced.samples))
        self.natural += voiced.natural
        if self._words is None or voiced.borders is None:
            self._words = None
            return
        last = first + len(voiced.borders) - 1
        for word in words:
            if first <= word.first < last:
                begins, ends = (
                    (start + voiced.borders[min(phoneme, last) - first]) / self._sample_rate
                    for phoneme in (word.first, word.last)
                )
                self._words.append(SpokenWord(place + word.start, place + word.end, begins, ends))

    def finish(self) -> Utterance:
        return Utterance(Pcm(self.samples, self._sample_rate), self._words)


def speak(
    voice: NeuralVoice, text: str, *, speed: float, pitch: float, turns: FairLock, stop: Callable[[], bool]
) -> Utterance:
    """Return a text as sound, with the times of its words if the network tells them.

    `turns` is held while the network computes, not for a whole text; `stop` is called before each sentence and each
    part of a long one. Raises NothingToSpeak, Stopped."""
    slowest, fastest = voice.native_speeds
    native_speed = min(max(speed, slowest), fastest)
    spoken = _record(voice, text, native_speed, turns, stop)
    natural = spoken.natural
    if native_speed != 1.0 and not voice.tells_length:
        natural = _record(voice, text, 1.0, turns, stop).natural
    utterance, length = spoken.finish(), max(1, round(natural / speed))
    if not pitch and abs(len(spoken.samples) / SAMPLE_BYTES / length - 1) <= TOLERANCE:
        return utterance
    return utterance.reshaped(load_sonic().reshape(utterance.sound, length=length, semitones=pitch, stop=stop))


def _record(voice: NeuralVoice, text: str, speed: float, turns: FairLock, stop: Callable[[], bool]) -> _Recording:
    """Speak a text at a native speed."""
    recording, place = _Recording(voice.sample_rate, speed), 0
    for sentence in _sentences(voice, text):
        reading = voice.read(sentence)
        if reading.phonemes and recording.samples:
            recording.append_silence(voice.sentence_silence)
        for first, last in split_phonemes(reading.phonemes, voice.most_phonemes):
            with turns.unless(stop):
                voiced = voice.voice(reading.phonemes[first:last], speed)
            recording.append(voiced, reading.words, place=place, first=first)
        place += len(sentence)
    if stop():
        raise Stopped
    if not any(memoryview(recording.samples)):
        raise NothingToSpeak
    return recording


def _sentences(voice: NeuralVoice, text: str) -> Iterator[str]:
    """Yield the sentences of a text, too long ones in parts."""
    for sentence in sentences(text, voice.language):
        if len(sentence) <= MOST_CHARACTERS:
            yield sentence
        else:
            yield from split_text(sentence, limit=MOST_CHARACTERS, language=voice.language)


def split_phonemes(phonemes: str, most: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of parts of at most `most` phonemes, split at the best place in their second half."""
    start = 0
    while len(phonemes) - start > most:
        half, end = start + most // 2, start + most
        places = (max(phonemes.rfind(sign, half, end) for sign in signs) for signs in SPLITS)
        place = next((place for place in places if place >= 0), end - 1)
        yield start, place + 1
        start = place + 1
    if start < len(phonemes):
        yield start, len(phonemes)
