"""Listening: what Whisper hears in a sound, by the engine that the service uses."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.settings import Settings
from workers.engines.registry import load_engines
from workers.models.store import ModelStore

RATE = 16_000
Floats = NDArray[np.float64]


class Listener:
    """A Whisper model in memory."""

    def __init__(self, model: Path) -> None:
        settings = Settings(transcription={"engines": "whisper", "whisper": {"model": str(model), "idle_minutes": 0}})
        (self._engine,) = load_engines(settings, "transcription")
        self._engine.setup()

    def hear(self, sound: Floats, language: str) -> str:
        """Return the text of a mono sound at 16 kHz, full scale at ±1."""
        samples = np.rint(np.clip(sound, -1, 1) * 32_767).astype(np.int16)
        with self._engine.listen(samples, language=language, timed=False) as hearing:
            return "".join(segment.text for segment in hearing.segments)


def installed(name: str, folder: Path) -> Path:
    """Return the files of a model that packages carry, put together in a folder if they come in parts."""
    store = ModelStore(Settings(data=folder))
    found = store.folder(store.catalogue[name])
    assert found is not None, f"pip install -e '.[test]' brings {name}"
    return found


def resample(sound: Any, rate: int) -> Floats:
    """Return a sound at 16 kHz; its spectrum is cut where the new rate ends."""
    spectrum = np.fft.rfft(np.asarray(sound, np.float64))
    length = round(len(sound) * RATE / rate)
    made: Floats = np.fft.irfft(spectrum[: length // 2 + 1], length) * (length / max(1, len(sound)))
    return made
