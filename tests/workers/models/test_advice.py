"""What a machine should have: by its memory, its cores and its GPU."""

from dataclasses import replace
from pathlib import Path

import pytest

from capabilities.transcription.engines.whisper.weights import in_order
from pipeline.settings import Settings
from workers.models.advice import default_model, recommended, remedy, wanted
from workers.models.catalogue import read_catalogue
from workers.models.machine import Machine
from workers.models.store import ModelStore

TINY = Machine(memory_bytes=3 * 10**9, cores=2)
SMALL = Machine(memory_bytes=4 * 10**9, cores=2)
SERVER = Machine(memory_bytes=32 * 10**9, cores=16)
GPU = Machine(memory_bytes=64 * 10**9, cores=16, gpu_bytes=24 * 10**9)


def chosen(machine: Machine) -> set[str]:
    """Return the alternatives that are recommended, without the voices."""
    return {model.name for model in recommended(read_catalogue().values(), machine) if model.one_of}


@pytest.mark.parametrize(
    ("machine", "names"),
    [
        (TINY, {"whisper-base"}),
        (SMALL, {"whisper-base", "smolvlm2-500m-gguf"}),
        (SERVER, {"whisper-small", "qwen3-vl-2b-gguf"}),
        (replace(SERVER, free_bytes=2 * 10**9), {"whisper-small", "smolvlm2-500m-gguf"}),
        (replace(SERVER, has_instructions=False), {"whisper-small"}),
        (GPU, {"whisper-large-v3-turbo", "qwen3-vl-2b", "flux2-klein-4b", "nsfw-detector"}),
    ],
)
def test_of_alternatives_the_first_that_suits_the_machine_is_recommended(
    machine: Machine, names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.models.machine.importlib.util.find_spec", lambda package: object())
    assert chosen(machine) == names


def test_what_somebody_has_fetched_is_neither_replaced_nor_supplemented(tmp_path: Path) -> None:
    store = ModelStore(Settings(data=tmp_path))
    assert [model.name for model in wanted(store, "transcription", SERVER)] == ["whisper-small"]
    (store.root / "whisper-small").mkdir(parents=True)

    assert wanted(store, "transcription", SERVER) == []
    order = in_order(store.here("transcription", "whisper"), SMALL)
    assert [model.name for model in order] == ["whisper-small", "whisper-base", "whisper-tiny.en"]


def test_what_comes_unasked_to_a_processor_has_two_gigabytes_at_most_and_known_hashes() -> None:
    automatic = [model for model in read_catalogue().values() if model.automatic and not model.needs.gpu]

    assert max(model.size_bytes for model in automatic) < 2 * 10**9
    assert all(file.sha256 for model in automatic if model.engine == "llama" for file in model.files)


def test_posts_and_pictures_have_the_same_model_on_a_processor(tmp_path: Path) -> None:
    store = ModelStore(Settings(data=tmp_path))

    assert [model.name for model in wanted(store, "metadata", SERVER)] == ["qwen3-vl-2b-gguf"]
    (store.root / "qwen3-vl-2b-gguf").mkdir(parents=True)
    assert wanted(store, "captioning", SERVER) == wanted(store, "metadata", SERVER) == []


def test_model_whose_package_is_missing_is_not_recommended() -> None:
    (model,) = [model for model in read_catalogue().values() if model.name == "smolvlm2-500m-gguf"]
    lacking = replace(model, needs=replace(model.needs, packages=("no_such_package",)))

    assert recommended([model], SMALL)
    assert not recommended([lacking], SMALL)


def test_engine_runs_what_is_here_and_suits_rather_than_what_is_first(tmp_path: Path) -> None:
    store = ModelStore(Settings(data=tmp_path))
    assert default_model(store, "captioning", "llama", SERVER) is None
    for name in ("qwen3-vl-2b-gguf", "smolvlm2-500m-gguf"):
        (store.root / name).mkdir(parents=True)

    # Whoever fetched a model to a machine that is too small wanted it.
    found = [default_model(store, "captioning", "llama", machine) for machine in (SERVER, SMALL, TINY)]

    assert [model and model.name for model in found] == ["qwen3-vl-2b-gguf", "smolvlm2-500m-gguf", "smolvlm2-500m-gguf"]


def test_remedy_names_the_command_or_what_the_machine_lacks() -> None:
    assert remedy("metadata", "llama", SERVER).startswith("`pressroom models fetch qwen3-vl-2b-gguf` adds alt texts")
    assert remedy("captioning", "llama", TINY) == (
        "smolvlm2-500m-gguf, the smallest of the catalogue, needs 3.8 GB of memory; "
        "`pressroom models fetch smolvlm2-500m-gguf` downloads it anyway"
    )
