"""What a machine should have: by its memory, its cores and its GPU."""

from dataclasses import replace
from pathlib import Path

import pytest

from capabilities.transcription.engines.whisper.weights import in_order
from pipeline.settings import Settings
from workers.models.advice import default_model, recommended, remedy, wanted
from workers.models.catalogue import read_catalogue
from workers.models.machine import Machine, this_machine
from workers.models.store import ModelStore

SMALL = Machine(memory_bytes=4 * 10**9, cores=2)
SERVER = Machine(memory_bytes=32 * 10**9, cores=16)
LARGE = Machine(memory_bytes=64 * 10**9, cores=32)
GPU = Machine(memory_bytes=64 * 10**9, cores=16, gpu_bytes=24 * 10**9)


def chosen(machine: Machine) -> set[str]:
    """Return the alternatives that are recommended, without the voices."""
    return {model.name for model in recommended(read_catalogue().values(), machine) if model.one_of}


@pytest.mark.parametrize(
    ("machine", "names"),
    [
        (SMALL, {"whisper-base", "blip-base"}),
        (SERVER, {"whisper-small", "smolvlm-500m", "lcm-dreamshaper-7", "nsfw-detector"}),
        (LARGE, {"whisper-small", "smolvlm-500m", "qwen2.5-1.5b", "lcm-dreamshaper-7", "nsfw-detector"}),
        (GPU, {"whisper-large-v3-turbo", "qwen3-vl-2b", "qwen3-4b", "flux2-klein-4b", "nsfw-detector"}),
    ],
)
def test_of_alternatives_the_first_that_suits_the_machine_is_recommended(machine: Machine, names: set[str]) -> None:
    assert chosen(machine) == names


def test_gpu_without_the_libraries_that_whisper_wants_gets_what_a_processor_would() -> None:
    assert "whisper-small" in chosen(replace(GPU, has_cuda=False))


def test_what_somebody_has_fetched_is_neither_replaced_nor_supplemented(tmp_path: Path) -> None:
    store = ModelStore(Settings(data=tmp_path))
    assert "whisper-base" in {model.name for model in wanted(store, "transcription", SMALL)}
    (store.root / "whisper-small").mkdir(parents=True)

    assert wanted(store, "transcription", SMALL) == []
    order = in_order(store.here("transcription", "whisper"), SMALL)
    assert [model.name for model in order] == ["whisper-small", "whisper-tiny.en"]


def test_model_of_gigabytes_never_comes_unasked() -> None:
    automatic = [model for model in read_catalogue().values() if model.automatic and not model.needs.gpu]

    assert automatic
    assert max(model.size_bytes for model in automatic) < 500 * 10**6


def test_model_whose_package_is_missing_is_not_recommended() -> None:
    (model,) = [model for model in read_catalogue().values() if model.name == "blip-base"]
    lacking = replace(model, needs=replace(model.needs, packages=("no_such_package",)))

    assert recommended([model], SMALL)
    assert not recommended([lacking], SMALL)


def test_engine_runs_what_is_here_and_suits_rather_than_what_is_first(tmp_path: Path) -> None:
    store = ModelStore(Settings(data=tmp_path))
    assert default_model(store, "metadata", "llm", SERVER) is None
    for name in ("qwen3-4b", "qwen2.5-1.5b"):
        (store.root / name).mkdir(parents=True)

    on_server, on_gpu = default_model(store, "metadata", "llm", SERVER), default_model(store, "metadata", "llm", GPU)
    # Whoever fetched a model to a machine that is too small wanted it.
    on_small = default_model(store, "metadata", "llm", SMALL)

    assert [model and model.name for model in (on_server, on_gpu, on_small)] == [
        "qwen2.5-1.5b",
        "qwen3-4b",
        "qwen2.5-1.5b",
    ]


def test_remedy_names_the_command_or_what_the_machine_lacks() -> None:
    assert remedy("metadata", "llm", LARGE).startswith("`pressroom models fetch qwen2.5-1.5b` brings excerpts")
    assert remedy("metadata", "llm", SMALL) == (
        "qwen2.5-1.5b, the smallest of the catalogue, needs 10.0 GB of memory; "
        "`pressroom models fetch qwen2.5-1.5b` brings it all the same"
    )


def test_this_machine_has_memory_and_cores() -> None:
    found = this_machine()

    assert found.memory_bytes > 10**9
    assert found.cores >= 1
