"""Utterance: a text as an engine spoke it, with the times of its words if the engine knows them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workers.media.audio.pcm import SAMPLE_BYTES, Pcm, audible


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word, `text[start:end]` of the text given to the engine, and its seconds in the sound.

    An engine may split a word, or join two."""

    start: int
    end: int
    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sound, and its words in the order in which they are heard; None if the engine can't tell."""

    sound: Pcm
    words: Sequence[SpokenWord] | None = None

    def trimmed(self, *, start: bool, end: bool) -> "Utterance":
        """Return it without the silence that every engine adds at the start or at the end."""
        sound = self.sound
        first, last = audible(sound)
        first, last = first if start else 0, last if end else len(sound.samples) // SAMPLE_BYTES
        rest = Pcm(sound.samples[first * SAMPLE_BYTES : last * SAMPLE_BYTES], sound.sample_rate)
        if self.words is None:
            return Utterance(rest)
        earlier, longest = first / sound.sample_rate, rest.duration.total_seconds()

        def within(seconds: float) -> float:
            return min(max(seconds - earlier, 0.0), longest)

        words = [replace(word, begins=within(word.begins), ends=within(word.ends)) for word in self.words]
        return Utterance(rest, words)

    def reshaped(self, sound: Pcm) -> "Utterance":
        """Return the same words in the same sound at another pace."""
        scale = sound.duration / self.sound.duration if len(self.sound.samples) else 1.0
        if self.words is None or scale == 1.0:
            return Utterance(sound, self.words)
        return Utterance(
            sound, [replace(word, begins=word.begins * scale, ends=word.ends * scale) for word in self.words]
        )
