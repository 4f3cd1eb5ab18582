"""espeak: speech in 100 languages by libespeak-ng, without a network."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import timedelta
from functools import cached_property
from typing import Self

from capabilities.speech.engines import NothingToSpeak, Synthesizer
from capabilities.speech.engines.espeak import libespeak
from capabilities.speech.engines.espeak.libespeak import Library, LibraryVoice, load
from capabilities.speech.engines.espeak.sonic import load_sonic
from capabilities.speech.engines.utterance import Utterance
from capabilities.speech.voices.voices import SHIPPED, Gender, Voice
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


#: The variant that makes a female voice of the library's voices, which are all male. Not +f2 to +f5: they have an echo
#: whose end is lost at random, so that the length of a word varies by 60 ms.
FEMALE_VARIANT = "+f1"
#: A made-up language for the library's tests, and Faroese and Karakalpak, whose dictionaries the wheel lacks.
LEFT_OUT = {"art/xex", "gmq/fo", "trk/kaa"}
#: Tags to replace the library's own, which are wrong, too broad or lack a region: ca-ba would be Catalan of Bosnia,
#: ru-cl Russian of Chile, and es is the Spanish of Spain, not of Argentina.
LANGUAGES: dict[str, tuple[str, ...]] = {
    "art/piqd": ("tlh-Piqd",),
    "gmw/en-GB-scotland": ("en-GB-scotland", "en-scotland"),
    "gmw/en-US-nyc": ("en-US-x-nyc",),
    "iro/chr": ("chr-US",),
    "roa/ca-ba": ("ca-x-balear",),
    "roa/ca-nw": ("ca-x-nw",),
    "roa/ca-va": ("ca-valencia",),
    "roa/es": ("es-ES",),
    "sit/cmn": ("cmn-CN", "zh-CN"),
    "sit/cmn-Latn-pinyin": ("cmn-Latn-pinyin", "zh-Latn-pinyin"),
    "sit/yue": ("yue-HK", "zh-HK"),
    "sit/yue-Latn-jyutping": ("yue-Latn-jyutping", "zh-Latn-jyutping"),
    "zle/ru-cl": ("ru-x-classic",),
}
#: Ids that are not the name of the voice's file.
IDS = {"gmw/en": "en-GB"}


def listed_voices(library: Library) -> Iterator[tuple[Voice, str]]:
    """Yield each voice, male and female, with the library's name of it."""
    for listed in library.voices():
        if listed.identifier not in LEFT_OUT:
            yield _voice(listed, library.sample_rate, "MALE", ""), listed.identifier
            yield _voice(listed, library.sample_rate, "FEMALE", "-female"), listed.identifier + FEMALE_VARIANT


def write_shipped() -> None:
    """Write the list that the API answers from while every worker is down."""
    lines = [json.dumps(asdict(voice), ensure_ascii=False) for voice, _ in listed_voices(load())]
    SHIPPED.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")


def _voice(listed: LibraryVoice, sample_rate: int, gender: Gender, suffix: str) -> Voice:
    voice_id = IDS.get(listed.identifier, listed.identifier.rpartition("/")[2]) + suffix
    return Voice(
        id=voice_id,
        name=voice_id,
        language_codes=LANGUAGES.get(listed.identifier) or _language_codes(listed.languages),
        ssml_gender=gender,
        natural_sample_rate_hertz=sample_rate,
        display_name=f"{listed.name}, {gender.lower()}, robotic",
        engine="espeak",
        quality="robotic",
    )


def _language_codes(languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags in the usual case, without those that another one begins with: en-US includes en."""
    return tuple(_cased(tag) for tag in languages if not any(other.startswith(f"{tag}-") for other in languages))


def _cased(tag: str) -> str:
    """Return a tag in the case of RFC 5646: en-GB, fa-Latn, en-GB-x-rp."""
    first, *rest = tag.split("-")
    private = rest.index("x") if "x" in rest else len(rest)
    cased = [subtag.upper() if len(subtag) == 2 else subtag.title() if len(subtag) == 4 else subtag for subtag in rest]
    return "-".join([first, *cased[:private], *rest[private:]])


if __name__ == "__main__":
    write_shipped()
