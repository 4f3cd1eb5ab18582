"""hibari: natural English speech by a small neural network whose weights are in its wheel."""

import hashlib
import importlib.util
import threading
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pipeline.errors import NotReady
from pipeline.kinds.speech.voices import Voice
from pipeline.settings import Settings
from workers.engines import Stopped
from workers.engines.synthesis import NothingToSpeak, Synthesizer
from workers.engines.synthesis.espeak.sonic import load_sonic
from workers.media.audio.pcm import SAMPLE_BYTES, Pcm

SAMPLE_RATE = 24_000
VOICES = (Voice("en-US-Heart", "Heart", ("en-US",), "FEMALE", SAMPLE_RATE, "Heart, American English", "hibari"),)
#: Of the weights in hibari-tts 0.2.1: others are not run (docs/decisions/0017-voices-in-wheels.md).
WEIGHTS_SHA256 = "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8"
#: Paces that the model renders by itself, of those that it was made for; Sonic does the rest.
SLOWEST_NATIVE, FASTEST_NATIVE = 0.5, 2.0
#: As loud as espeak: measured on ten sentences, the model's peaks are at 0.14 to 0.40 of full scale.
LOUDER = 2.0
#: The model adds noise to its breaths: with a seed the same text is the same sound.
SEED = 0


class Hibari(Synthesizer):
    """The voice Heart, distilled from Kokoro-82M; some 80 times faster than real time on one core."""

    name = "hibari"
    parallel = 1

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the engine; it has nothing to set."""
        return cls()

    def readiness(self) -> str | None:
        """Return what the engine needs before it can be set up; None: nothing."""
        if importlib.util.find_spec("hibari") is None:
            return "the package hibari-tts is missing; pip install 'hibari-tts==0.2.1'"
        return None

    def setup(self) -> None:
        """Load the model and its dictionaries, in about a second. Raises NotReady."""
        if (needs := self.readiness()) is not None:
            raise NotReady(needs)
        _ = self._model.g2p, load_sonic()

    def voices(self) -> list[Voice]:
        """Return the one voice that is in the wheel."""
        return list(VOICES)

    def render(self, text: str, *, voice: str, speed: float, pitch: float, stop: Callable[[], bool]) -> Pcm:
        """Return the text as sound. `stop` is called after each sentence. Raises NothingToSpeak, Stopped."""
        # [word](/phonemes/) would be obeyed.
        plain = text.replace("](", "] (")
        natural = self._spoken(plain, 1.0, stop)
        if speed == 1.0 and pitch == 0.0:
            return natural
        length = max(1, round(len(natural.samples) / SAMPLE_BYTES / speed))
        native_speed = min(max(speed, SLOWEST_NATIVE), FASTEST_NATIVE)
        paced = natural if native_speed == 1.0 else self._spoken(plain, native_speed, stop)
        return load_sonic().reshape(paced, length=length, semitones=pitch, stop=stop)

    def _spoken(self, text: str, speed: float, stop: Callable[[], bool]) -> Pcm:
        """Speak at one of the model's own paces."""
        samples = bytearray()
        with self._lock:
            for sentence in self._model.stream(text, speed=speed, seed=SEED):
                if stop():
                    raise Stopped
                samples += ((sentence * LOUDER).clip(-1.0, 1.0) * 32_767).astype("<i2").tobytes()
        if not any(memoryview(samples)):
            raise NothingToSpeak
        return Pcm(samples, SAMPLE_RATE)

    @cached_property
    def _model(self) -> Any:
        from hibari import Hibari as Model

        model = Model()
        if hashlib.sha256(Path(model.model_path).read_bytes()).hexdigest() != WEIGHTS_SHA256:
            raise NotReady(f"{model.model_path} is damaged or altered; reinstall hibari-tts==0.2.1.")
        return model
