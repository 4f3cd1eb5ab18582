"""Tests for prepared files and the tables in them."""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from workers.engines import prepared as module
from workers.engines.prepared import PREPARED, Prepared, keep_in
from workers.engines.tables import REMEMBERED, open_tables, write_tables


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "_root", None)
    monkeypatch.setattr(module, "PREPARE_AFTER", timedelta(hours=1))
    keep_in(tmp_path)
    return tmp_path


def thing(*versions: str) -> Prepared[str]:
    return Prepared(
        "things",
        *versions,
        load=lambda: "loaded",
        write=lambda loaded, folder: (folder / "file").write_text(f"written when {loaded}"),
        open=lambda folder: (folder / "file").read_text(),
    )


def test_it_is_loaded_once_and_then_opened(data: Path) -> None:
    first = thing("1")
    assert first.get() == "loaded"
    first.prepare()
    assert first.get() == thing("1").get() == "written when loaded"
    assert thing("2").get() == "loaded"


def test_it_is_prepared_by_itself(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PREPARE_AFTER", timedelta(seconds=0.05))
    one = thing("1")
    assert one.get() == "loaded"
    until = time.monotonic() + 10
    while one.get() == "loaded":
        assert time.monotonic() < until
        time.sleep(0.01)


def test_without_a_data_folder_it_stays_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_root", None)
    assert thing("1").get() == "loaded"


def test_where_nothing_can_be_written_it_stays_loaded(data: Path) -> None:
    (data / PREPARED).write_text("not a folder")
    one = thing("1")
    one.prepare()
    assert one.get() == "loaded"


@pytest.mark.parametrize("damage", [lambda file: file.unlink(), lambda file: file.write_text("wrotten when loaded")])
def test_a_damaged_folder_is_made_anew(data: Path, damage: Callable[[Path], object]) -> None:
    thing("1").prepare()
    (file,) = (data / PREPARED).glob("*/file")
    damage(file)
    one = thing("1")
    assert one.get() == "loaded"
    one.prepare()
    assert one.get() == "written when loaded"


def test_old_files_of_other_versions_and_unfinished_ones_are_deleted(data: Path) -> None:
    thing("1").prepare()
    for name in ("things-unfinished", "other-1"):
        (data / PREPARED / name).mkdir()
    long_ago = time.time() - 2 * module.LEFT_AFTER.total_seconds()
    for old in (data / PREPARED).iterdir():
        os.utime(old, (long_ago, long_ago))
    thing("2").prepare()
    assert thing("1").get() == "loaded"
    assert len([*(data / PREPARED).iterdir()]) == 2


def test_two_processes_may_prepare_the_same(data: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(thing("1").prepare) for _ in range(8)]:
            done.result()
    assert sorted(path.name for path in (data / PREPARED).glob("*/*")) == ["file", module.SUMS]
    assert thing("1").get() == "written when loaded"


def test_a_table_returns_what_was_written(tmp_path: Path) -> None:
    entries = {"": 1, "a'b\"": {"NN": 0.25, "VB": -1e-17}, "ə": "ðə", "\0": ["x"], "𝄞": True}
    write_tables(tmp_path / "tables", {"one": entries, "two": {str(number): number for number in range(5_000)}})
    tables = open_tables(tmp_path / "tables")
    (tmp_path / "tables").unlink()
    assert {key: tables["one"].get(key) for key in entries} == entries
    assert [tables["two"].get(str(number)) for number in range(2 * REMEMBERED)] == [*range(2 * REMEMBERED)]
    assert "ə" in tables["one"]
    assert "5" not in tables["one"]
    assert tables["one"].get("\ud800") is None


def test_threads_may_share_tables(tmp_path: Path) -> None:
    entries = {str(number): number for number in range(5_000)}
    write_tables(tmp_path / "tables", {"one": entries, "two": entries})
    tables = [*open_tables(tmp_path / "tables").values()]
    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(lambda number: tables[number % 2].get(str(number)), range(5_000))] == [*range(5_000)]
