"""Pacing: a network renders some speeds by itself; Sonic does the rest, and the pitch."""

from collections.abc import Callable

from capabilities.speech.engines.espeak.sonic import load_sonic
from capabilities.speech.engines.utterance import Utterance
from workers.media.audio.pcm import SAMPLE_BYTES

#: How far the length may be off before Sonic corrects it: whole frames miss a speed by some hundredths.
TOLERANCE = 0.02


def paced(spoken: Utterance, *, length: int, pitch: float, stop: Callable[[], bool]) -> Utterance:
    """Return an utterance with `length` samples, and its pitch moved by semitones. Raises Stopped."""
    samples = len(spoken.sound.samples) / SAMPLE_BYTES
    if not pitch and abs(samples / length - 1) <= TOLERANCE:
        return spoken
    return spoken.reshaped(load_sonic().reshape(spoken.sound, length=length, semitones=pitch, stop=stop))
