"""A package of somebody else, as pip would install it: with this folder on PYTHONPATH it adds a synthesis engine."""

from collections.abc import Callable
from math import pi, sin
from struct import pack
from typing import Self

from capabilities.speech.engines import Synthesizer
from capabilities.speech.engines.utterance import Utterance
from capabilities.speech.voices.voices import Voice
from pipeline.settings import Settings
from workers.media.audio.pcm import Pcm

RATE = 16_000
VOICE = Voice("hum", "hum", ("en-US",), "NEUTRAL", RATE, "A hum", "hum")


class Hum(Synthesizer):
    """Hums as long as it takes to read a text."""

    name = "hum"
    parallel = 1

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls()

    def readiness(self) -> str | None:
        return None

    def setup(self) -> None:
        pass

    def voices(self) -> list[Voice]:
        return [VOICE]

    def render(self, text: str, *, voice: str, speed: float, pitch: float, stop: Callable[[], bool]) -> Utterance:
        count = round(len(text) * RATE / 15)
        tone = [round(9_000 * sin(2 * pi * 220 * place / RATE)) for place in range(count)]
        return Utterance(Pcm(bytearray(pack(f"<{count}h", *tone)), RATE))
