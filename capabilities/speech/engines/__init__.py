"""Synthesis: engines that speak texts."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from capabilities.speech.engines.utterance import Utterance
from capabilities.speech.voices.voices import Voice, VoiceUnknown
from pipeline.errors import InvalidRequest
from workers.engines import never
from workers.media.audio.pcm import Pcm

#: In order of preference.
ENGINES: Mapping[str, str] = {
    "hibari": "capabilities.speech.engines.hibari.hibari:Hibari",
    "piper": "capabilities.speech.engines.piper.piper:Piper",
    "kokoro": "capabilities.speech.engines.kokoro.kokoro:Kokoro",
    "edge": "capabilities.speech.engines.edge.edge:Edge",
    "espeak": "capabilities.speech.engines.espeak.espeak:Espeak",
}
#: The setting of an endpoint that names its model of this family, and the engine on it.
ENDPOINT_MODEL, ENDPOINT = "speech", "capabilities.speech.engines.endpoint:EndpointSpeech"
#: The engine that needs no model. Its answers say what would bring a better one.
FALLBACK = "espeak"
#: No engine is given these: a control character starts a command to libespeak-ng (\x01200S changes its speed), and a
#: surrogate has no UTF-8.
UNSPEAKABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class NothingToSpeak(InvalidRequest):
    """The text makes no sound."""

    code = "nothing_to_speak"
    field = "text"

    def __init__(self, message: str = "The text has no word or sign that can be spoken; send some words.") -> None:
        super().__init__(message)


class Synthesizer(ABC):
    """A synthesis engine."""

    name: str
    #: Texts that it speaks at once.
    parallel: int
    #: The loudness of its voices in LUFS, if that is about the same for all texts.
    loudness: float | None = None

    @abstractmethod
    def voices(self) -> Sequence[Voice]:
        """Return its voices."""

    @abstractmethod
    def render(self, text: str, *, voice: str, speed: float, pitch: float, stop: Callable[[], bool]) -> Utterance:
        """Return a text without control characters as sound, with its words if they are known. Raises as `utter`."""

    def has_voice(self, voice: str) -> bool:
        """Return whether it has a voice of that id."""
        return any(listed.id == voice for listed in self.voices())

    def model_of(self, voice: str) -> str | None:
        """Return the name of the model that speaks with a voice; None if it has none."""
        return None

    def is_available(self) -> bool:
        """Return whether it can speak now, as far as is known without asking any service."""
        return True

    def offer(self) -> Mapping[str, Any]:
        """Return its voices, for the API."""
        return {"voices": [asdict(voice) for voice in self.voices()]}

    def utter(
        self,
        text: str,
        *,
        voice: str,
        speed: float = 1.0,
        pitch: float = 0.0,
        stop: Callable[[], bool] = never,
    ) -> Utterance:
        """Return the text as spoken by the voice of that id. Markup is read aloud and has no effect.

        `speed` is a factor (0.25–4), `pitch` is in semitones (−20–20). `stop` is called at least every
        second. Raises NothingToSpeak, SpeechTooLong, VoiceUnknown, EngineUnavailable, Stopped."""
        if not self.has_voice(voice):
            raise VoiceUnknown(f"{self.name} has no voice {voice!r}; GET /tts/voices lists the voices.")
        return self.render(UNSPEAKABLE.sub(" ", text), voice=voice, speed=speed, pitch=pitch, stop=stop)

    def speak(self, text: str, *, voice: str, **options: Any) -> Pcm:
        """Return the sound alone of what `utter` returns."""
        return self.utter(text, voice=voice, **options).sound
