"""Which Whisper model is run: the one that is set, or the best that is here and suits the machine; and live change."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tiny_whisper
from hub import FakeHub, serve_hub
from spoken import samples_of

from capabilities.transcription.engines.whisper.weights import in_catalogue, in_order, missing
from capabilities.transcription.engines.whisper.whisper import Whisper
from pipeline.errors import NotReady
from pipeline.settings import Settings
from workers.models.catalogue import CatalogueModel, File, Hub, Needs, read_catalogue
from workers.models.machine import Machine
from workers.models.store import ModelStore

SMALL, LARGE = Machine(8 * 10**9, cores=2), Machine(64 * 10**9, cores=8)
WITH_GPU = Machine(64 * 10**9, cores=8, gpu_bytes=24 * 10**9)


def whisper_of(data: Path, *, download: str = "auto", **settings: Any) -> Whisper:
    return Whisper(Settings(data=data, models={"download": download}, transcription={"whisper": settings}))


def ordered(*sizes: str, machine: Machine) -> list[str]:
    catalogue = read_catalogue()
    here = [model for name, model in catalogue.items() if name.removeprefix("whisper-") in sizes]
    return [model.name.removeprefix("whisper-") for model in in_order(here, machine)]


def test_the_best_model_that_is_here_and_suits_the_machine_comes_first() -> None:
    everything = ("tiny.en", "base", "small", "large-v3-turbo")

    assert ordered(*everything, machine=WITH_GPU)[0] == "large-v3-turbo"
    assert ordered(*everything, machine=LARGE)[0] == "small"
    assert ordered(*everything, machine=SMALL)[0] == "small"  # slow here, and somebody fetched it
    assert ordered("tiny.en", machine=WITH_GPU) == ["tiny.en"]


@pytest.mark.parametrize(
    ("setting", "name"),
    [("small", "whisper-small"), ("whisper-base", "whisper-base"), ("turbo", "whisper-large-v3-turbo")],
)
def test_a_size_is_the_catalogues_model_of_that_size(tmp_path: Path, setting: str, name: str) -> None:
    found = in_catalogue(setting, ModelStore(Settings(data=tmp_path)))

    assert found is not None
    assert found.name == name


# A small catalogue: two models, of which one knows English alone.


def model(name: str, folder: Path, *languages: str) -> CatalogueModel:
    """Return a catalogue entry of what is in a folder."""
    files = [
        File(path.name, hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size)
        for path in sorted(folder.iterdir())
        if path.suffix in {".bin", ".json"} and path.is_file()
    ]
    size = sum(file.size_bytes or 0 for file in files)
    return CatalogueModel(
        name=f"whisper-{name}", family="transcription", engine="whisper", gives="texts", languages=languages,
        licence="MIT", origin="random", size_bytes=size, files=tuple(files), hub=Hub(f"someone/{name}"), needs=Needs(),
    )  # fmt: skip


@pytest.fixture(scope="module")
def folders(whisper_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The files of both, by name."""
    english = tiny_whisper.build(tmp_path_factory.mktemp("english"), language=None, words=(" only", " English", "."))
    return {"many": whisper_folder, "one": english}


@pytest.fixture
def store(tmp_path: Path, folders: dict[str, Path]) -> ModelStore:
    """A store of these two, neither of which is here."""
    models = [model("many", folders["many"], "de", "en", "fr"), model("one", folders["one"], "en")]
    return ModelStore(Settings(data=tmp_path), {entry.name: entry for entry in models})


def put(store: ModelStore, name: str, folder: Path) -> Path:
    """Put a model into the store, as a download does: whole."""
    store.root.mkdir(exist_ok=True)
    unfinished = store.root / f".{name}"
    unfinished.mkdir()
    for path in folder.iterdir():
        if path.is_file():
            (unfinished / path.name).write_bytes(path.read_bytes())
    return unfinished.rename(store.root / f"whisper-{name}")


def made(store: ModelStore, data: Path) -> Whisper:
    settings = Settings(data=data, transcription={"whisper": {"device": "cpu", "cpu_threads": 1}})
    return Whisper(settings, store=store, machine=SMALL)


def test_a_better_model_takes_over_live_and_what_was_begun_ends_with_its_own(
    store: ModelStore, tmp_path: Path, folders: dict[str, Path]
) -> None:
    put(store, "one", folders["one"])
    engine = made(store, tmp_path)
    engine.setup()
    begun = engine.as_it_is()
    assert (engine.model, engine.offer()) == ("whisper-one", {"languages": ["en"], "translates": False})
    assert engine.refresh() is False

    put(store, "many", folders["many"])

    assert engine.refresh() is True
    assert engine.model == "whisper-many"
    assert "fr" in engine.languages()
    assert (begun.model, begun.languages()) == ("whisper-one", ["en"])
    with begun.listen(samples_of("train"), language=None, timed=False) as hearing:
        assert hearing.language == "en"
    with engine.as_it_is().listen(samples_of("train"), language=None, timed=False) as hearing:
        assert hearing.language == "de"
    assert engine.refresh() is False


def test_altered_weights_are_never_loaded_and_another_model_serves(
    store: ModelStore, tmp_path: Path, folders: dict[str, Path]
) -> None:
    put(store, "one", folders["one"])
    weights = put(store, "many", folders["many"]) / "model.bin"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    engine = made(store, tmp_path)

    engine.setup()

    assert engine.model == "whisper-one"
    store.remove(store.catalogue["whisper-one"])
    with pytest.raises(NotReady, match="whisper-many is damaged or altered"):
        made(store, tmp_path).setup()


def test_a_size_that_is_set_and_not_here_is_fetched_from_the_catalogues_hub_and_verified(
    store: ModelStore, tmp_path: Path, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(
        data=tmp_path, models={"download": "ask"}, transcription={"whisper": {"model": "many", "device": "cpu"}}
    )
    with serve_hub() as hub:
        hub.files["someone/many"] = {
            path.name: path.read_bytes() for path in folders["many"].iterdir() if path.is_file()
        }
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        engine = Whisper(settings, store=store, machine=SMALL)
        assert engine.readiness() is None

        engine.setup()

    assert engine.model == "whisper-many"
    assert (tmp_path / "models" / "whisper-many" / "model.bin").is_file()


def test_nothing_is_fetched_where_that_is_not_wanted(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, models={"download": "never"}, transcription={"whisper": {"model": "small"}})

    needs = missing(settings, ModelStore(settings))

    assert needs is not None
    assert needs.endswith("'small', which is not here; `pressroom models fetch whisper-small` downloads it")
    with pytest.raises(NotReady, match="PRESSROOM_MODELS__DOWNLOAD is never"):
        whisper_of(tmp_path, download="never", model="medium").setup()


# What an operator sets.


@pytest.mark.parametrize("content", [{"model.bin": b"\0" * 100}, {"model.bin": b"", "config.json": b"{"}, None])
def test_a_folder_with_a_broken_model_is_told(
    tmp_path: Path, whisper_folder: Path, content: dict[str, bytes] | None
) -> None:
    if content is None:
        content = {file.name: file.read_bytes() for file in whisper_folder.iterdir()}
    for name, data in (content | {"tokenizer.json": b"{"}).items():
        (tmp_path / name).write_bytes(data)

    with pytest.raises(NotReady, match="can't be used"):
        whisper_of(tmp_path, model=str(tmp_path)).setup()


@pytest.mark.parametrize("lacking", ["model.bin", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_told_before_anything_is_loaded_or_fetched(tmp_path: Path, lacking: str) -> None:
    for name in {"model.bin", "tokenizer.json", "config.json"} - {lacking}:
        (tmp_path / name).touch()
    engine = whisper_of(tmp_path, model=str(tmp_path))

    assert f"no {lacking} in that folder" in (engine.readiness() or "")
    with pytest.raises(NotReady, match=f"no {lacking} in that folder.*--copy_files tokenizer.json"):
        engine.setup()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """A hub that has nothing."""
    with serve_hub() as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", served.url)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
        yield served


@pytest.mark.parametrize("setting", ["medium", "small"])
def test_a_hub_that_has_no_such_model_is_told(hub: FakeHub, tmp_path: Path, setting: str) -> None:
    with pytest.raises(NotReady, match=r"PRESSROOM_TRANSCRIPTION__WHISPER__MODEL|could not be downloaded") as raised:
        whisper_of(tmp_path, model=setting).setup()

    assert setting in raised.value.message


def cached(folder: Path, **files: bytes) -> None:
    """Put a model into the cache of the hub's library."""
    repository = folder / "models--Systran--faster-whisper-medium"
    snapshot = repository / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    for name, content in files.items():
        (snapshot / name).write_bytes(content)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("a" * 40)


def test_a_download_that_was_broken_off_does_not_pass_for_a_model(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    cached(tmp_path, **{"config.json": b"{}"})

    with pytest.raises(NotReady, match="Download it where there is a network"):
        whisper_of(tmp_path, model="medium").setup()


@pytest.mark.parametrize("setting", ["smaller", "/nowhere/at/all", "models/whisper/small"])
def test_a_name_that_is_no_model_is_told(tmp_path: Path, setting: str) -> None:
    with pytest.raises(NotReady, match=setting):
        whisper_of(tmp_path, model=setting).setup()
