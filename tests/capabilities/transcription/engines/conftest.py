"""Whisper in two sizes: a tiny one of random weights, and OpenAI's multilingual base."""

from collections.abc import Callable
from pathlib import Path

import pytest
import tiny_whisper

from capabilities.transcription.engines.whisper.whisper import Whisper
from pipeline.settings import Settings
from workers.media.audio.track import Samples

Heard = Callable[..., str]


@pytest.fixture(scope="session")
def whisper_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that is not quite sure that everybody speaks German."""
    return tiny_whisper.build(tmp_path_factory.mktemp("whisper"))


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Whisper:
    """The model that comes with the installation, as it is found without any setting."""
    engine = Whisper(Settings(data=tmp_path_factory.mktemp("base")))
    assert engine.readiness() is None
    engine.setup()
    return engine


@pytest.fixture(scope="session")
def heard() -> Heard:
    """Return what an engine writes down of a sound, as one text."""

    def listen(engine: Whisper, samples: Samples, *, language: str | None = None, prompt: str | None = None) -> str:
        with engine.listen(samples, language=language, timed=False, prompt=prompt) as hearing:
            return " ".join(segment.text.strip() for segment in hearing.segments)

    return listen
