"""A family: engines get better while the process runs, when models arrive."""

import hashlib
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import pytest
from hub import FakeHub, serve_hub
from waiting import wait_for

from pipeline.errors import NotReady
from pipeline.settings import Settings
from workers.engines import EngineBusy
from workers.engines.family import Family
from workers.models.catalogue import CatalogueModel, File, Hub
from workers.models.store import ModelStore

WEIGHTS = b"weights" * 1_000
AT_ONCE = timedelta(0)
MODELS = tuple(
    CatalogueModel(
        name=name,
        family="sketching",
        engine="pencil",
        gives="lines",
        languages=("en",),
        licence="MIT",
        origin="a test",
        size_bytes=len(WEIGHTS),
        files=(File("a.onnx", hashlib.sha256(WEIGHTS).hexdigest(), len(WEIGHTS)),),
        hub=Hub("us/pencils"),
        automatic=name == "soft",
        details={"voices": [{"id": name.title()}]},
    )
    for name in ("soft", "hard")
)


class Pencil:
    """An engine that draws with the models that are here."""

    name = "pencil"

    def __init__(self, store: ModelStore) -> None:
        self._store = store
        self.drawn: list[str] = []

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(ModelStore(settings, {model.name: model for model in MODELS}))

    def readiness(self) -> str | None:
        return None if self._store.here("sketching", "pencil") else "there is no pencil"

    def setup(self) -> None:
        self.refresh()

    def refresh(self) -> bool:
        before = self.drawn
        here = self._store.here("sketching", "pencil")
        for model in here:
            self._store.folder(model)
        self.drawn = [model.name for model in here]
        return before != self.drawn

    def offer(self) -> dict[str, Any]:
        return {"pencils": self.drawn}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of a process with that engine, which comes with another package."""
    package = tmp_path / "pressroom_pencil-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: pressroom-pencil\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[pressroom.engines]\nsketching.pencil = pressroom_pencil:Pencil\n")
    module = ModuleType("pressroom_pencil")
    module.__dict__["Pencil"] = Pencil
    monkeypatch.setitem(__import__("sys").modules, "pressroom_pencil", module)
    monkeypatch.syspath_prepend(tmp_path)
    return Settings(data=tmp_path / "data")


@pytest.fixture
def store(settings: Settings) -> ModelStore:
    """A store of the two pencils, neither of which is here."""
    return ModelStore(settings, {model.name: model for model in MODELS})


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    """A hub with both."""
    with serve_hub() as served:
        served.files["us/pencils"] = {"a.onnx": WEIGHTS}
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        yield served


def put(store: ModelStore, name: str, content: bytes = WEIGHTS) -> None:
    """Put a model into the folder, as a download does: complete, or not at all."""
    made = store.root / ".partial" / name
    made.mkdir(parents=True)
    (made / "a.onnx").write_bytes(content)
    made.rename(store.root / name)


class Slow:
    """An engine that loads until it is let go; `fails` says why it can't."""

    name, loads_long = "slow", True
    fails: str | None = None

    def __init__(self) -> None:
        self.may_load = threading.Event()
        self.loads = 0

    def readiness(self) -> str | None:
        return None

    def setup(self) -> None:
        self.loads += 1
        self.may_load.wait(30)
        if self.fails:
            raise NotReady(self.fails)


class Quick:
    """An engine that is ready at once."""

    name = "quick"

    def readiness(self) -> str | None:
        return None

    def setup(self) -> None:
        pass


@pytest.mark.parametrize("fails", [None, "its files are damaged"])
def test_engines_that_load_for_seconds_do_not_hold_up_the_start(
    settings: Settings, store: ModelStore, monkeypatch: pytest.MonkeyPatch, fails: str | None
) -> None:
    slow = Slow()
    slow.fails = fails
    monkeypatch.setattr("workers.engines.family.load_engines", lambda *_: [slow, Quick()])
    family = Family(settings, "sketching", store=store)

    family.setup()
    assert ([engine.name for engine in family.engines], family.is_loading) == (["quick"], True)
    assert "being loaded" in (family.offers()[0].needs or "")
    slow.may_load.set()
    wait_for(lambda: not family.is_loading)

    wait_for(lambda: [engine.name for engine in family.engines] == (["quick"] if fails else ["slow", "quick"]))
    assert family.offers()[0].needs == fails
    assert slow.loads == 1


def test_engine_that_lacked_a_model_is_ready_when_it_has_come(settings: Settings, store: ModelStore) -> None:
    changed = threading.Event()
    family = Family(settings, "sketching", store=store, look_every=timedelta(seconds=0.05))
    family.watch(changed.set)
    with pytest.raises(NotReady, match="there is no pencil"):
        family.setup()
    (before,) = family.offers()
    assert (before.ready, before.needs) == (False, "there is no pencil")

    put(store, "soft")

    assert changed.wait(10)
    (after,) = family.offers()
    assert (after.ready, after.needs) == (True, None)
    assert [engine.name for engine in family.engines] == ["pencil"]
    family.setup()  # a handler that was not ready asks again


def test_offers_say_what_could_be_fetched(settings: Settings, store: ModelStore) -> None:
    family = Family(settings, "sketching", store=store)
    put(store, "hard")
    family.setup()

    (offer,) = family.offers()

    stock = offer.content["stock"]
    assert [(one["model"], one["is_here"], one["is_removable"]) for one in stock] == [
        ("hard", True, True),
        ("soft", False, False),
    ]
    assert {name: one for name, one in offer.content.items() if name != "stock"} == {
        "pencils": ["hard"],
        "models": ["hard"],
        "fetchable": [{"model": "soft", "languages": ["en"], "voices": ["Soft"]}],
    }


def test_model_that_is_damaged_takes_nothing_away(
    settings: Settings, store: ModelStore, capsys: pytest.CaptureFixture[str]
) -> None:
    family = Family(settings, "sketching", store=store, look_every=timedelta(hours=1))
    put(store, "hard")
    family.setup()

    put(store, "soft", b"not the weights")

    family.look()  # finds nothing new if the family's own thread has just looked
    assert "The model soft is damaged" in capsys.readouterr().out
    assert family.offers()[0].content["pencils"] == ["hard"]


def test_small_model_comes_by_itself_and_is_used(settings: Settings, store: ModelStore, hub: FakeHub) -> None:
    auto = settings.model_copy(update={"models": settings.models.model_copy(update={"download": "auto"})})
    family = Family(auto, "sketching", store=store, look_every=timedelta(seconds=0.05), fetch_after=AT_ONCE)
    hub.gate = threading.Event()
    with pytest.raises(NotReady):
        family.setup()
    wait_for(lambda: hub.asked != [])
    assert not family.engines  # nobody waits for it

    hub.gate.set()

    wait_for(lambda: bool(family.engines))
    assert family.engine("pencil").drawn == ["soft"]
    with pytest.raises(EngineBusy):
        family.engine("brush")
    assert not store.is_here(MODELS[1])  # which is not automatic


@pytest.mark.parametrize(("download", "told"), [("ask", 1), ("never", 0)])
def test_who_does_not_want_downloads_is_told_the_command_or_nothing(
    settings: Settings, store: ModelStore, hub: FakeHub, capsys: pytest.CaptureFixture[str], download: str, told: int
) -> None:
    models = settings.models.model_copy(update={"download": download})
    family = Family(settings.model_copy(update={"models": models}), "sketching", store=store)
    with pytest.raises(NotReady):
        family.setup()

    assert capsys.readouterr().out.count("`pressroom models fetch soft`") == told
    assert hub.asked == []
