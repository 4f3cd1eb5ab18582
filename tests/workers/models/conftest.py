"""A hub on loopback with one small model, and the store that it is fetched into."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from alba import CONFIG, WEIGHTS, make_alba
from hub import FakeHub, serve_hub

from pipeline.settings import Settings
from workers.models.catalogue import CatalogueModel
from workers.models.store import ModelStore


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub with one repository."""
    with serve_hub() as served:
        served.files["rhasspy/voices"] = {
            "en/alba.onnx": WEIGHTS,
            "en/alba.json": CONFIG,
            "en/setup.py": b"print('code')",
            "en/pytorch_model.bin": b"\x80\x04pickle",
        }
        served.small = {"en/alba.json"}
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        yield served


@pytest.fixture
def alba() -> CatalogueModel:
    """A model of which the catalogue knows the hash of the weights, and not that of the config."""
    return make_alba()


@pytest.fixture
def store(tmp_path: Path, alba: CatalogueModel) -> ModelStore:
    """An empty store whose catalogue has that model alone."""
    return ModelStore(Settings(data=tmp_path), {alba.name: alba})
