"""espeak: speech in 100 languages by libespeak-ng, without a network."""

from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from typing import Self

from capabilities.speech.engines import NothingToSpeak, Synthesizer
from capabilities.speech.engines.espeak import libespeak
from capabilities.speech.engines.espeak.sonic import load_sonic
from capabilities.speech.engines.espeak.voices import listed_voices
from capabilities.speech.engines.utterance import Utterance
from capabilities.speech.voices.voices import Voice
from pipeline.errors import InvalidRequest, NotReady
from pipeline.settings import Settings
from workers.media.audio.pcm import SAMPLE_BYTES

#: Speeds that the library renders well, with longer vowels and pauses; Sonic does the rest. Below, its rate has a
#: limit; above, it drops up to 30 % of a short text.
SLOWEST_NATIVE, FASTEST_NATIVE = 0.5, 1.7
#: Semitones, up and down, that the library renders, which leaves the formants and so the speaker alone. Sonic does the
#: rest: with larger shifts the library's voices differ by over a quarter of a semitone.
NATIVE_SEMITONES = 3.0
#: The longest sound: 635 MB of samples. Ten thousand Chinese characters, named one by one by a German voice at a
#: quarter of its speed, would last 10 hours.
LONGEST = timedelta(hours=4)


class SpeechTooLong(InvalidRequest):
    """The text takes too long to speak."""

    code = "speech_too_long"
    field = "text"


class Espeak(Synthesizer):
    """libespeak-ng. A process speaks one text at a time, since the library's state is global."""

    name = "espeak"
    loudness = -21.7
    parallel = 1

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls()

    def readiness(self) -> str | None:
        try:
            libespeak.find()
        except NotReady as error:
            return error.message
        return None

    def setup(self) -> None:
        """Load the library and its list of voices. Raises NotReady."""
        load_sonic()
        _ = self._identifiers

    def voices(self) -> list[Voice]:
        return [voice for voice, _ in listed_voices(libespeak.load())]

    def has_voice(self, voice: str) -> bool:
        return voice in self._identifiers

    def render(self, text: str, *, voice: str, speed: float, pitch: float, stop: Callable[[], bool]) -> Utterance:
        """Return the text as sound. `stop` is called for about every 60 ms of sound.

        Raises NothingToSpeak, SpeechTooLong, Stopped."""
        library, identifier = libespeak.load(), self._identifiers[voice]
        # Lowered by the library first, a voice would fall below 65 Hz, where Sonic finds no pitch periods.
        native_pitch = min(pitch, NATIVE_SEMITONES) if pitch >= -NATIVE_SEMITONES else 0.0

        def spoken(native_speed: float) -> Utterance:
            rate, parameter = round(libespeak.NORMAL_RATE * native_speed), _pitch_parameter(native_pitch)
            utterance = library.speak(text, voice=identifier, rate=rate, pitch=parameter, stop=stop)
            if not any(memoryview(utterance.sound.samples)):
                raise NothingToSpeak
            return utterance

        with libespeak.LOCK:
            natural = spoken(1.0)
            _check_duration(natural.sound.duration / speed)
            if speed == 1.0 and pitch == native_pitch:
                return natural
            length = max(1, round(len(natural.sound.samples) / SAMPLE_BYTES / speed))
            native_speed = min(max(speed, SLOWEST_NATIVE), FASTEST_NATIVE)
            # Spoken again, not stretched by Sonic: the library lengthens vowels and leaves bursts of noise alone. How
            # far it misses a speed depends on the text (2 % to 29 % too short at 2.0), so the result is measured.
            paced = natural if native_speed == 1.0 else spoken(native_speed)
        shaped = load_sonic().reshape(paced.sound, length=length, semitones=pitch - native_pitch, stop=stop)
        return paced.reshaped(shaped)

    @cached_property
    def _identifiers(self) -> dict[str, str]:
        return {voice.id: identifier for voice, identifier in listed_voices(libespeak.load())}


def _check_duration(duration: timedelta) -> None:
    if duration > LONGEST:
        hours, limit = duration / timedelta(hours=1), LONGEST / timedelta(hours=1)
        raise SpeechTooLong(
            f"The speech would last {hours:.1f} hours; the limit is {limit:.0f}. "
            "Send a shorter text, a higher speed, or the text's own language."
        )


def _pitch_parameter(semitones: float) -> int:
    """Return the library's parameter for a shift of up to three semitones, fitted to 13 voices within 0.25 each."""
    return round(libespeak.NORMAL_PITCH + 5.9 * semitones - 0.085 * semitones**2)
