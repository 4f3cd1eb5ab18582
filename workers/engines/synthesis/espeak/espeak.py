"""espeak: speech in 100 languages from pip packages alone, without a network."""

import re
from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from typing import Self

from pipeline.errors import InvalidRequest, NotReady
from pipeline.kinds.speech.voices import Voice, VoiceUnknown
from pipeline.settings import Settings
from workers.engines import Stopped, never
from workers.engines.synthesis.espeak import libespeak
from workers.engines.synthesis.espeak.sonic import Sonic
from workers.engines.synthesis.espeak.voices import listed_voices
from workers.media.audio.pcm import SAMPLE_BYTES, Pcm

#: Speeds that the library renders well by itself, with longer vowels and pauses; Sonic does the rest. Slower, its rate
#: has a floor; faster, it drops up to 30 % of a short text.
SLOWEST_NATIVE, FASTEST_NATIVE = 0.5, 1.7

#: Semitones, up and down, that the library renders by itself, which leaves the formants (who is speaking) alone; Sonic
#: does the rest. Farther out, the library's voices differ from each other by more than a quarter of a semitone.
NATIVE_SEMITONES = 3.0

#: The longest sound that is made: 635 MB of samples. Ten thousand Chinese characters, named one by one by a German
#: voice at a quarter of its speed, would be 10 hours.
LONGEST = timedelta(hours=4)

#: What is not text: a control character starts a command to the library (\x01200S changes its speed), and a surrogate
#: has no UTF-8.
UNSPEAKABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class SpeechTooLong(InvalidRequest):
    """The text takes too long to speak."""

    code = "speech_too_long"


class NothingToSpeak(InvalidRequest):
    """The text makes no sound."""

    code = "nothing_to_speak"


class Espeak:
    """libespeak-ng; a process speaks one text at a time, since the library's state is global."""

    name = "espeak"
    #: Texts that it speaks at once.
    parallel = 1

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the engine; it has nothing to set."""
        return cls()

    def readiness(self) -> str | None:
        """Return what the engine needs before it can be set up; None: nothing."""
        try:
            libespeak.find()
        except NotReady as error:
            return error.message
        return None

    def setup(self) -> None:
        """Load the library and its list of voices; raises NotReady."""
        _ = self._sonic, self._identifiers

    def is_available(self) -> bool:
        """Return whether it can speak now: always, once it is set up."""
        return True

    def voices(self) -> list[Voice]:
        """Return what the loaded library can speak with."""
        return [voice for voice, _ in listed_voices(self._library)]

    def speak(
        self,
        text: str,
        *,
        voice: str,
        speed: float = 1.0,
        pitch: float = 0.0,
        gain_db: float = 0.0,
        stop: Callable[[], bool] = never,
    ) -> Pcm:
        """Return the text as spoken by the voice of that id; all markup in it is read, not obeyed.

        `speed` is a factor (0.25–4), `pitch` is in semitones (−20–20), `gain_db` in decibels (−96–16). `stop` is asked
        for each 60 ms of sound or so. Raises NothingToSpeak, SpeechTooLong, VoiceUnknown, Stopped.
        """
        if voice not in self._identifiers:
            raise VoiceUnknown(f"espeak has no voice {voice!r}; GET /tts/voices lists the voices.")
        spoken = self._rendered(UNSPEAKABLE.sub(" ", text), self._identifiers[voice], speed, pitch, stop)
        if not gain_db:
            return spoken
        # Here, since most speech is never changed in gain, and numpy takes 16 MB and 0.1 s.
        from workers.media.audio.gain import apply_gain

        return apply_gain(spoken, gain_db)

    def _rendered(self, text: str, identifier: str, speed: float, pitch: float, stop: Callable[[], bool]) -> Pcm:
        # A voice that is lowered first falls below 65 Hz, where Sonic finds no pitch periods.
        native_pitch = min(pitch, NATIVE_SEMITONES) if pitch >= -NATIVE_SEMITONES else 0.0
        with libespeak.LOCK:
            natural = self._spoken(text, identifier, 1.0, native_pitch, stop)
            _check_duration(natural.duration / speed)
            if speed == 1.0 and pitch == native_pitch:
                return natural
            length = max(1, round(len(natural.samples) / SAMPLE_BYTES / speed))
            native_speed = min(max(speed, SLOWEST_NATIVE), FASTEST_NATIVE)
            # Spoken again, not stretched from the first: the library lengthens vowels and spares bursts of noise. How
            # far off its pace is depends on the text (2 % to 29 % too short at 2.0), so only the result can tell.
            paced = natural if native_speed == 1.0 else self._spoken(text, identifier, native_speed, native_pitch, stop)
        shaped = self._sonic.reshape(paced, length=length, semitones=pitch - native_pitch, stop=stop)
        if stop():
            raise Stopped
        return shaped

    def _spoken(self, text: str, identifier: str, speed: float, pitch: float, stop: Callable[[], bool]) -> Pcm:
        """Speak at the library's own speed and pitch."""
        samples = bytearray()
        stopped = False

        def sink(piece: bytes) -> bool:
            nonlocal stopped
            samples.extend(piece)
            stopped = stop()
            return stopped

        rate = round(libespeak.NORMAL_RATE * speed)
        self._library.speak(text, voice=identifier, rate=rate, pitch=_pitch_parameter(pitch), sink=sink)
        if stopped:
            raise Stopped
        if not any(memoryview(samples)):
            raise NothingToSpeak("The text has no word or sign that can be spoken; send some words.")
        return Pcm(samples, self._library.sample_rate)

    @cached_property
    def _library(self) -> libespeak.Library:
        return libespeak.load()

    @cached_property
    def _sonic(self) -> Sonic:
        try:
            return Sonic(self._library.functions)
        except AttributeError as error:
            raise NotReady(f"This libespeak-ng is built without Sonic ({error}). Reinstall espeakng-loader.") from error

    @cached_property
    def _identifiers(self) -> dict[str, str]:
        return {voice.id: identifier for voice, identifier in listed_voices(self._library)}


def _check_duration(duration: timedelta) -> None:
    if duration > LONGEST:
        hours, limit = duration / timedelta(hours=1), LONGEST / timedelta(hours=1)
        raise SpeechTooLong(
            f"The speech would last {hours:.1f} hours; at most {limit:.0f} are made at once. "
            "Send a shorter text, a higher speed, or the text's own language."
        )


def _pitch_parameter(semitones: float) -> int:
    """Return the library's parameter for a shift of up to three semitones: fitted to 13 voices, each within 0.25."""
    return round(libespeak.NORMAL_PITCH + 5.9 * semitones - 0.085 * semitones**2)
