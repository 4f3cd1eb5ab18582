"""Endpoint: the voices of a server of the operator's that speaks OpenAI's API."""

import re
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from capabilities.speech.engines import NothingToSpeak, Synthesizer
from capabilities.speech.engines.espeak.sonic import load_sonic
from capabilities.speech.engines.utterance import Utterance
from capabilities.speech.voices.voices import Voice
from pipeline.errors import InvalidRequest, NotReady
from pipeline.settings import Settings
from workers.engines.endpoints.client import MOST_SOUND, Call
from workers.engines.endpoints.endpoint import EndpointEngine
from workers.engines.endpoints.errors import AnswerInvalid, EndpointBusy, EndpointFailed
from workers.media.audio.decoding import AudioTooLong, decode
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.pcm import SAMPLE_BYTES, Pcm

SAMPLE_RATE = 24_000
#: Voices of OpenAI's own service, whose names most servers know; they speak all of LANGUAGES.
OPENAI_VOICES = ("alloy", "ash", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer")
_CODES = "en ar cs da de el es fi fr he hi hu id it ja ko nl no pl pt ro ru sv th tr uk vi zh"
LANGUAGES = tuple(_CODES.split())
#: Kokoro's voices are named by language and gender: af_heart is an American woman's.
KOKORO = re.compile(r"([abefhijpz])([fm])_\w+")
KOKORO_LANGUAGES = dict(zip("abefhijpz", ["en-US", "en-GB", "es", "fr", "hi", "it", "ja", "pt-BR", "zh"], strict=True))
#: Piper's and edge's begin with a locale: de_DE-thorsten-medium, fr-FR-DeniseNeural.
LOCALE = re.compile(r"([a-z]{2,3})[_-]([A-Z]{2})\b")
#: The form of a voice that is published.
NAME = re.compile(r"[\w.+-]{1,80}")
#: Most voices of a server.
MOST_VOICES = 500
#: Letters and digits a second at normal speed; nobody speaks faster, so a shorter sound is incomplete.
FASTEST_LETTERS = 50
#: Longest sound of a line, whatever it says, and for each character: nobody speaks so slowly.
LONGEST, LONGEST_CHARACTER = timedelta(seconds=10), timedelta(seconds=2)
#: The speeds that servers take.
SLOWEST, FASTEST = 0.25, 4.0
#: Longest wait of a line for a server that takes few a minute; the lines before it would be spoken again.
PATIENCE = timedelta(seconds=30)


class EndpointSpeech(EndpointEngine, Synthesizer):
    """Speaks by `/audio/speech`. The voices are the server's list, the operator's, or OpenAI's."""

    use = "speech"

    def __init__(self, settings: Settings, name: str) -> None:
        super().__init__(settings, name)
        self.parallel = settings.endpoints[name].slots
        self._voices = self._published([])

    def readiness(self) -> str | None:
        """Return why it is not to be used, or what is missing before its sound can be decoded; None: nothing."""
        try:
            find_ffmpeg(self._settings)
        except NotReady as error:
            return error.message
        return super().readiness()

    def setup(self) -> None:
        """Find the decoder, and start to probe."""
        self._ffmpeg = find_ffmpeg(self._settings)
        super().setup()

    def probe(self) -> None:
        """Ask the server for its models and voices. Raises EndpointFailed."""
        super().probe()
        try:
            listed = _names(self.client.get("/audio/voices"))
        except EndpointFailed:
            listed = []  # most servers have no list of voices
        before, self._voices = self._voices, self._published(listed)
        if self._voices != before:
            self._on_change()

    def offer(self) -> Mapping[str, Any]:
        """Return the voices, for the API, and the model."""
        return {**super().offer(), "voices": [asdict(voice) for voice in self.voices()]}

    def voices(self) -> list[Voice]:
        """Return the voices, the operator's choice first."""
        return self._voices

    def render(self, text: str, *, voice: str, speed: float, pitch: float, stop: Callable[[], bool]) -> Utterance:
        """Return the text as sound. Raises EndpointFailed, NothingToSpeak, Stopped."""
        self.require()
        if not any(map(str.isalnum, text)):
            raise NothingToSpeak
        body: dict[str, Any] = {
            "model": self.model,
            "input": text.strip(),
            "voice": voice.removeprefix(f"{self.name}-"),
            "response_format": "wav",
            "speed": min(max(speed, SLOWEST), FASTEST),
        }
        ends = time.monotonic() + PATIENCE.total_seconds()
        while isinstance(answer := self._asked(body, stop), EndpointBusy):
            self.rest(answer, ends=ends, stop=stop)
        if isinstance(answer, EndpointFailed):
            self.failed(answer)
            raise answer
        sound = self._decoded(answer, (LONGEST + LONGEST_CHARACTER * len(text)) / body["speed"], stop)
        letters = sum(map(str.isalnum, text))
        if sound.duration < timedelta(seconds=letters / FASTEST_LETTERS / max(speed, 1.0)):
            raise AnswerInvalid(self.name, "sent too little sound for the text")
        if not pitch:
            return Utterance(sound)
        length = len(sound.samples) // SAMPLE_BYTES
        return Utterance(load_sonic().reshape(sound, length=length, semitones=pitch, stop=stop))

    def _asked(self, body: Mapping[str, Any], stop: Callable[[], bool]) -> bytes | EndpointFailed:
        return self.client.send([Call("/audio/speech", json=body, most=MOST_SOUND)], stop=stop)[0]

    def _decoded(self, answer: bytes, longest: timedelta, stop: Callable[[], bool]) -> Pcm:
        with tempfile.TemporaryFile(prefix="pressroom-") as file:
            file.write(answer)
            file.seek(0)
            try:
                with decode(self._ffmpeg, file, sample_rate=SAMPLE_RATE, max_duration=longest, stop=stop) as track:
                    return Pcm(track.read(0, len(track)).tobytes(), SAMPLE_RATE)
            except AudioTooLong as error:
                raise AnswerInvalid(self.name, "sent too much sound for the text") from error
            except InvalidRequest as error:
                raise AnswerInvalid(self.name, "sent something else than sound") from error

    def _published(self, listed: list[str]) -> list[Voice]:
        named = [name.strip() for name in self.client.settings.voices.split(",") if name.strip()]
        return [self._voice(name) for name in (named or listed or OPENAI_VOICES)[:MOST_VOICES] if NAME.fullmatch(name)]

    def _voice(self, name: str) -> Voice:
        kokoro, locale = KOKORO.fullmatch(name), LOCALE.match(name)
        codes: tuple[str, ...] = LANGUAGES
        if kokoro:
            codes = (KOKORO_LANGUAGES[kokoro[1]],)
        elif locale:
            codes = (f"{locale[1]}-{locale[2]}",)
        return Voice(
            id=f"{self.name}-{name}",
            name=f"{self.name}-{name}",
            language_codes=codes,
            ssml_gender={"f": "FEMALE", "m": "MALE"}.get(kokoro[2] if kokoro else "", "NEUTRAL"),  # type: ignore[arg-type]
            natural_sample_rate_hertz=SAMPLE_RATE,
            display_name=f"{name} ({self.name})",
            engine=self.name,
            local=False,
        )


def _names(listed: Any) -> list[str]:
    """Return the names of a list of voices, which are texts, or objects with an id or a name."""
    entries = listed.get("voices") or listed.get("data") or [] if isinstance(listed, dict) else listed
    if not isinstance(entries, list):
        return []
    return [str(one.get("id") or one.get("name")) if isinstance(one, dict) else str(one) for one in entries]
