"""edge: the neural voices of Microsoft's browser, by the package edge-tts, while the service can be reached."""

import importlib.util
import subprocess
import tempfile
from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Self

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random

from capabilities.speech.engines import NothingToSpeak, Synthesizer
from capabilities.speech.engines.edge.voices import PREFERRED, SAMPLE_RATE, load_voices, save_voices, voices_of
from capabilities.speech.engines.espeak import libespeak
from capabilities.speech.engines.espeak.sonic import load_sonic
from capabilities.speech.engines.utterance import Utterance
from capabilities.speech.settings import SynthesisSettings
from capabilities.speech.voices.voices import Voice
from pipeline.errors import NotReady
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from workers.engines import never
from workers.engines.circuit_breaker import CircuitBreaker, ignore
from workers.media.audio.ffmpeg import FfmpegFailed, find_ffmpeg
from workers.media.audio.pcm import SAMPLE_BYTES, Pcm

if TYPE_CHECKING:
    from capabilities.speech.engines.edge.client import EdgeClient

#: Speeds that the service renders itself. Sonic does the rest, and all of the pitch: the service takes it in hertz, and
#: the hertz of a semitone depend on the voice.
SLOWEST_NATIVE, FASTEST_NATIVE = 0.5, 2.0
#: Letters and digits per second at normal speed. Nobody speaks faster, so a shorter sound is incomplete.
FASTEST_LETTERS = 50
#: How much shorter than its bytes say a sound may be before it counts as broken.
SLACK = timedelta(milliseconds=250)
#: Tries if an error may be temporary, and the most seconds between them.
TRIES = 2
RETRY_WITHIN = 0.5

PROBE_TEXT = "Ready."
#: Ends a decoder that hangs; else it keeps pace with the service.
DECODING_LIMIT = timedelta(minutes=30)
#: Decodes MP3 from a pipe into samples in a file. Without the probe sizes ffmpeg waits for some seconds of sound.
DECODER = (
    "-probesize", "1024", "-analyzeduration", "0", "-threads", "1", "-protocol_whitelist", "fd,pipe",
    "-format_whitelist", "mp3", "-f", "mp3", "-i", "fd:", "-ac", "1", "-ar", str(SAMPLE_RATE), "-f", "s16le", "fd:",
)  # fmt: skip


class Edge(Synthesizer):
    """An engine behind a network, which may be unavailable at any time."""

    name = "edge"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.parallel = settings.of(SynthesisSettings).edge.connections
        self._voices: list[Voice] = []
        self._on_change: Callable[[], None] = ignore
        pause = timedelta(seconds=settings.of(SynthesisSettings).edge.pause_seconds)
        self.breaker = CircuitBreaker(self.name, self._probe, pause=pause, on_change=lambda: self._on_change())

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(settings)

    def readiness(self) -> str | None:
        """Return what the engine needs before it can be set up, or None. Only probes connect to the service."""
        synthesis = self._settings.of(SynthesisSettings)
        if synthesis.engines is None and not synthesis.online:
            return "edge sends texts to Microsoft; PRESSROOM_SYNTHESIS__ONLINE=true allows it."
        if importlib.util.find_spec("edge_tts") is None:
            return "edge needs the package edge-tts: pip install edge-tts."
        try:
            find_ffmpeg(self._settings)
            libespeak.find()
        except NotReady as error:
            return error.message
        return None

    def setup(self) -> None:
        """Load the local parts, and start to probe in the background. Raises NotReady."""
        if needs := self.readiness():
            raise NotReady(needs)
        load_sonic()
        self._ffmpeg = find_ffmpeg(self._settings)
        self._artifacts = Artifacts(open_store(self._settings))
        self._voices = load_voices(self._artifacts)
        self.breaker.start()

    def close(self) -> None:
        self.breaker.stop()

    def watch(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change

    def is_available(self) -> bool:
        """Return whether it can speak now, by the last probe."""
        return self.breaker.is_available()

    def voices(self) -> list[Voice]:
        """Return the voices that the service last listed, perhaps to an earlier process."""
        return self._voices

    def render(self, text: str, *, voice: str, speed: float, pitch: float, stop: Callable[[], bool]) -> Utterance:
        """Return the text as sound. Raises EngineUnavailable, NothingToSpeak, Stopped."""
        self.breaker.require()
        if not text.strip():
            raise NothingToSpeak
        sound = self._spoken(text.strip(), voice, speed, stop)
        rest = speed / (1 + _rate(speed) / 100)
        if not pitch and abs(rest - 1) <= 0.01:
            return Utterance(sound)
        length = max(1, round(len(sound.samples) / SAMPLE_BYTES / rest))
        return Utterance(load_sonic().reshape(sound, length=length, semitones=pitch, stop=stop))

    def _spoken(self, text: str, voice: str, speed: float, stop: Callable[[], bool]) -> Pcm:
        """Let the service speak, as near to the speed as it can; open the circuit breaker if it fails."""
        from capabilities.speech.engines.edge.client import EdgeFailed

        tries = Retrying(
            retry=retry_if_exception(lambda error: isinstance(error, EdgeFailed) and error.passing),
            stop=stop_after_attempt(TRIES),
            wait=wait_random(0, RETRY_WITHIN),
            reraise=True,
        )
        try:
            return tries(self._once, text, voice, _rate(speed), stop)
        except EdgeFailed as error:
            if error.local and not any(map(str.isalnum, text)):
                raise NothingToSpeak("The text has no word that this voice can speak; send some words.") from error
            self.breaker.failed(error.reason, certain=not error.local)
            raise

    def _once(self, text: str, voice: str, rate: int, stop: Callable[[], bool]) -> Pcm:
        """Speak, and decode meanwhile."""
        from capabilities.speech.engines.edge.client import BYTES_PER_SECOND, EdgeFailed

        with tempfile.TemporaryFile(prefix="pressroom-") as file:
            try:
                with self._ffmpeg.start(
                    DECODER, stdin=subprocess.PIPE, stdout=file, time_limit=DECODING_LIMIT
                ) as decoder:
                    received = self._client.speak(text, voice=voice, rate=rate, sink=decoder.write, stop=stop)
                    decoder.check()
            except FfmpegFailed as error:
                raise EdgeFailed("sent sound that can't be decoded", passing=True) from error
            file.seek(0)
            sound = Pcm(file.read(), SAMPLE_RATE)
        expected = timedelta(seconds=received / BYTES_PER_SECOND)
        letters = sum(map(str.isalnum, text))
        least = timedelta(seconds=letters / FASTEST_LETTERS / (1 + rate / 100))
        if sound.duration < max(expected - SLACK, least):
            raise EdgeFailed("sent too little sound for the text", passing=True)
        return sound

    def _probe(self) -> None:
        """Fetch the list of voices, and let one of them speak. Raises EngineUnavailable."""
        from capabilities.speech.engines.edge.client import EdgeFailed

        voices = voices_of(self._client.voices())
        if not voices:
            raise EdgeFailed("has no voices in its list")
        self._once(PROBE_TEXT, next((v.id for v in voices if v.id == PREFERRED), voices[0].id), 0, never)
        if voices != self._voices:
            self._voices = voices
            save_voices(self._artifacts, voices)
            self._on_change()

    @cached_property
    def _client(self) -> "EdgeClient":
        # Imported only here, in the thread of the probes: aiohttp takes a quarter of a second and 26 MB.
        from capabilities.speech.engines.edge.client import EdgeClient

        return EdgeClient(self._settings.of(SynthesisSettings).edge)


def _rate(speed: float) -> int:
    """Return the service's nearest parameter for a speed, in percent more or less than the voice's own speed."""
    return round((min(max(speed, SLOWEST_NATIVE), FASTEST_NATIVE) - 1) * 100)
