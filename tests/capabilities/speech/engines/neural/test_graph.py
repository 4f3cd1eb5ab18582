"""Where speech networks have their durations, and that these are those of the sound."""

import importlib.util
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from capabilities.speech.engines.neural.network import Network, find_durations, with_outputs
from workers.models.catalogue import find_model
from workers.models.store import ModelStore


@pytest.mark.parametrize(
    ("model", "is_rounded_up"),
    [("hibari-heart", False), ("piper-en_US-joe-medium", True), ("kokoro-82m-japanese", False)],
)
def test_a_speech_network_tells_its_durations(store: ModelStore, model: str, is_rounded_up: bool) -> None:
    durations = find_durations(network_of(store, model).read_bytes())

    assert durations is not None
    assert durations.is_rounded_up is is_rounded_up


def test_durations_are_those_of_the_sound(store: ModelStore) -> None:
    network = Network(network_of(store, "piper-en_US-joe-medium"))
    ids = np.array([[1, 0, 14, 0, 15, 0, 2]])
    scales = np.array([0.667, 1.0, 0.8], np.float32)

    (samples,), frames = network.run({"input": ids, "input_lengths": np.array([7]), "scales": scales})

    assert frames is not None
    assert len(frames.rounded) == 7
    assert frames.rounded.sum() * 256 == samples.size  # 256 samples a frame (VITS, section 3)
    assert frames.natural(1.0) == pytest.approx(frames.rounded)


def test_a_network_without_durations_tells_none() -> None:
    assets = Path(importlib.util.find_spec("hibari").submodule_search_locations[0]) / "assets"
    other = (assets / "oov.onnx").read_bytes()

    assert find_durations(other) is None


def test_a_tensor_becomes_one_more_output(store: ModelStore) -> None:
    model = network_of(store, "hibari-heart").read_bytes()
    before = names_of_outputs(model)

    assert names_of_outputs(with_outputs(model, "/Clip_output_0")) == [*before, "/Clip_output_0"]


def network_of(store: ModelStore, model: str) -> Path:
    folder = store.folder(find_model(model))
    assert folder is not None
    return next(folder.glob(find_model(model).files[0].name))


def names_of_outputs(model: bytes) -> list[str]:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return [output.name for output in session.get_outputs()]
