"""The models that installed packages bring, and the engines that speak with them."""

from collections.abc import Callable

import numpy as np
import pytest

from capabilities.speech.engines.hibari.hibari import Hibari
from capabilities.speech.engines.kokoro.kokoro import Kokoro
from capabilities.speech.engines.piper.piper import Piper
from pipeline.settings import Settings
from workers.media.audio.pcm import Pcm
from workers.models.catalogue import find_model
from workers.models.store import ModelStore

WHISPER_RATE = 16_000


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> ModelStore:
    """The models of the installed packages; those in parts are put together in a folder of their own."""
    return ModelStore(Settings(data=tmp_path_factory.mktemp("models")))


@pytest.fixture(scope="session")
def hibari(store: ModelStore) -> Hibari:
    """The engine with the voice Heart."""
    engine = Hibari(store)
    engine.setup()
    return engine


@pytest.fixture(scope="session")
def piper(store: ModelStore) -> Piper:
    """The engine with the voice Joe."""
    engine = Piper(store)
    engine.setup()
    return engine


@pytest.fixture(scope="session")
def kokoro(store: ModelStore) -> Kokoro:
    """The engine with five Japanese voices, which speak English too."""
    engine = Kokoro(store)
    engine.setup()
    return engine


@pytest.fixture(scope="session")
def transcribed(store: ModelStore) -> Callable[[Pcm], str]:
    """What Whisper hears in English speech."""
    from faster_whisper import WhisperModel

    model = WhisperModel(str(store.folder(find_model("whisper-tiny.en"))), device="cpu", compute_type="int8")

    def hear(sound: Pcm) -> str:
        samples = np.frombuffer(sound.samples, "<i2").astype(np.float32) / 32_768
        times = np.arange(0, len(samples), sound.sample_rate / WHISPER_RATE)
        heard, _ = model.transcribe(np.interp(times, np.arange(len(samples)), samples).astype(np.float32))
        return " ".join(segment.text for segment in heard)

    return hear
