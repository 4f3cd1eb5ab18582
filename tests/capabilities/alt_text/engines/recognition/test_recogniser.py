"""Recognition: a photograph is named where the classifier is sure, and nothing in its weights is run."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from capabilities.alt_text import demo
from capabilities.alt_text.engines.recognition import recogniser
from capabilities.alt_text.engines.recognition.network import read_weights
from capabilities.alt_text.engines.recognition.recogniser import THINGS, Recogniser

NOTHING: frozenset[str] = frozenset()


@pytest.fixture(scope="module")
def coffee() -> Image.Image:
    return Image.open(Path(demo.__file__).parent / "pictures" / "coffee.jpg").convert("RGB")


def test_a_photograph_is_named_in_each_language(coffee: Image.Image) -> None:
    thing = Recogniser().recognise(coffee, NOTHING)

    assert thing is not None
    assert [thing.named(language) for language in ("en", "es", "fr", "de", "pt", "it")] == [
        "a cup", "una taza", "une tasse", "eine Tasse", "uma xícara", "una tazza",
    ]  # fmt: skip


def test_a_thing_of_which_it_is_less_sure_is_named_if_the_page_names_it(coffee: Image.Image) -> None:
    class Unsure(Recogniser):
        def _probabilities(self, image: Image.Image) -> object:
            return np.eye(1000, dtype=np.float32)[281] * 0.6

    assert Unsure().recognise(coffee, NOTHING) is None
    assert Unsure().recognise(coffee, frozenset({"katze"})) is not None


def test_noise_is_not_named() -> None:
    grain = np.random.default_rng(1).integers(0, 255, (300, 400, 3), dtype=np.uint8)

    assert Recogniser().recognise(Image.fromarray(grain), NOTHING) is None


def test_without_the_weights_photographs_stay_unnamed(coffee: Image.Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recogniser, "PACKAGE", "no_such_package")

    assert Recogniser().recognise(coffee, NOTHING) is None


def test_every_thing_has_six_names_and_classes_that_exist() -> None:
    for thing in THINGS:
        assert len(thing.names) == 6
        assert all(thing.names)
        assert set(thing.classes) <= set(range(1000))


def test_weights_are_those_that_torch_reads(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1), "b": torch.tensor(3)}
    torch.save(tensors, tmp_path / "w.pth", _use_new_zipfile_serialization=False)

    read = read_weights(tmp_path / "w.pth")

    assert all(np.array_equal(read[name], tensor.numpy()) for name, tensor in tensors.items())


def test_weights_that_name_a_function_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "w.pth"
    file.write_bytes(b"".join(pickle.dumps(part) for part in (1, 2, 3)) + pickle.dumps(print))

    with pytest.raises(pickle.UnpicklingError, match=r"builtins.print is no part of weights"):
        read_weights(file)
