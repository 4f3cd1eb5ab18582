"""The lock file: what it says is followed only as far as a download could have written it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hub import COMMIT, FakeHub

from pipeline.errors import NotReady
from workers.models.catalogue import CatalogueModel, Hub
from workers.models.fetching import ModelAltered, fetch
from workers.models.store import ModelStore

SOUND = {"sha256": "0" * 64, "bytes": 3}


@pytest.fixture
def unlisted(alba: CatalogueModel) -> CatalogueModel:
    """A model whose files the hub and the lock file name, and not the catalogue."""
    return replace(alba, files=(), hub=Hub("rhasspy/voices", patterns=("en/*.json",)))


def write(store: ModelStore, model: CatalogueModel, files: Any, commit: Any = COMMIT) -> None:
    """Write an entry as somebody else might."""
    assert model.hub is not None
    entry = {"repo": model.hub.repo, "revision": model.hub.revision, "commit": commit, "files": files}
    store.root.mkdir(parents=True, exist_ok=True)
    store.lock.path.write_text(json.dumps({model.name: entry}))


@pytest.mark.parametrize(
    "files",
    [
        {"../../../../evil.json": SOUND},
        {"/etc/evil.json": SOUND},
        {"modeling.py": SOUND},
        {"en/pytorch_model.bin": SOUND},
        {"a.json": {"sha256": None, "bytes": 3}},
        {"a.json": {"sha256": "0" * 63, "bytes": 3}},
        {"a.json": {"sha256": 1, "bytes": 3}},
        {"a.json": {"sha256": "0" * 64, "bytes": None}},
        {"a.json": {"sha256": "0" * 64, "bytes": True}},
        ["a.json"],
    ],
)
def test_entry_that_no_download_writes_is_damaged_and_nothing_is_asked_for(
    hub: FakeHub, store: ModelStore, unlisted: CatalogueModel, files: Any
) -> None:
    write(store, unlisted, files)

    with pytest.raises(NotReady, match=r"models\.lock\.json is damaged at 'piper-alba'"):
        fetch(store, unlisted, stall_seconds=1)
    assert hub.asked == []


@pytest.mark.parametrize("commit", ["main", "../main", None, 1])
def test_commit_that_is_none_is_damaged(store: ModelStore, unlisted: CatalogueModel, commit: Any) -> None:
    write(store, unlisted, {"a.json": SOUND}, commit)

    with pytest.raises(NotReady, match="is damaged"):
        store.lock.find(unlisted)


def test_name_outside_the_folder_is_never_written_to(hub: FakeHub, store: ModelStore, alba: CatalogueModel) -> None:
    outside = replace(alba, files=(replace(alba.files[1], name="../../../evil.json", hub="en/alba.json"),))

    with pytest.raises(ModelAltered, match=r"evil\.json"):
        fetch(store, outside, stall_seconds=1)
    assert not list(store.root.rglob("*.json"))
