"""A real WordPress, and a system in this process: a sweep's chore, and a worker that describes pictures."""

import io
import threading
import wave
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import redis
from manual_worker import ManualWorker
from payers import Payer
from PIL import Image
from ran import Ran
from tools import skip
from wordpress_site import WordPress, missing, wordpress

from capabilities.sites.sites import Site, list_sites
from capabilities.sites.working.site_runs import SiteRuns
from pipeline.database import Database, Statement
from pipeline.lifecycle import ClaimedItem, Outcome
from pipeline.settings import Settings

#: Nobody waits for the next look, nor for the claim of a dead sweep to run out.
DUE = Statement("UPDATE site_run SET due_at = now() RETURNING id", {}, len)
ON_LOOPBACK = {"PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8"}


def picture(number: int) -> bytes:
    """Return a JPEG that differs from those of other numbers."""
    file = io.BytesIO()
    Image.new("RGB", (64, 48), (number * 7 % 256, number * 13 % 256, 90)).save(file, "JPEG")
    return file.getvalue()


def silence() -> bytes:
    """Return a WAV file of a tenth of a second."""
    file = io.BytesIO()
    with wave.open(file, "wb") as opened:
        opened.setparams((1, 2, 8_000, 0, "NONE", ""))
        opened.writeframes(bytes(1_600))
    return file.getvalue()


@pytest.fixture(scope="session")
def session_wordpress(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WordPress]:
    if (why := missing()) is not None:
        skip("wordpress", why)
    with wordpress(tmp_path_factory.mktemp("wordpress")) as running:
        yield running


@pytest.fixture
def site_wordpress(session_wordpress: WordPress) -> WordPress:
    """The WordPress of all tests, as it was at first."""
    session_wordpress.begin_anew()
    return session_wordpress


@dataclass
class Engine:
    """A model's double: what it says of each picture, by its file's name."""

    texts: dict[str, str] = field(default_factory=dict)
    confidence: float = 0.9
    drafts: set[str] = field(default_factory=set)
    asked: list[dict[str, Any]] = field(default_factory=list)

    def describe(self, item: ClaimedItem) -> Outcome:
        name = item.input["image_url"].rpartition("/")[2]
        self.asked.append(dict(item.input))
        text = {"text": self.texts.get(name, f"A boat called {name.partition('.')[0]}"), "confidence": self.confidence}
        if is_draft := name in self.drafts:
            text["draft"] = True
        output = {"texts": {"short": text}, "language": item.input["language"], "engine": "made-up"}
        return Outcome(item.item_id, "done", 0 if is_draft else item.price, output, engine="made-up")


@dataclass
class System:
    """Takes runs on: the sweep's chore and a worker. `step` is one round of both."""

    database: Database
    settings: Settings
    worker: ManualWorker
    engine: Engine
    stopped: threading.Event = field(default_factory=threading.Event)

    def step(self) -> int:
        done = SiteRuns(self.settings).work(self.database)
        return done + len(self.worker.work(self.engine.describe))

    def go_on(self) -> None:
        while not self.stopped.wait(0.02):
            self.step()

    def site(self) -> Site:
        (found,) = self.database.run(list_sites())
        return found


@pytest.fixture
def system(
    database: Database, database_url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[System]:
    """A system that stands still until a test has it do something."""
    for name, value in ON_LOOPBACK.items():
        monkeypatch.setenv(name, value)
    with redis.Redis.from_url(redis_url) as client:
        yield System(database, Settings(data=tmp_path), ManualWorker(database, client, {"alt_text": 8}), Engine())


@pytest.fixture
def running(system: System) -> Iterator[System]:
    """The same at work."""
    thread = threading.Thread(target=system.go_on)
    thread.start()
    yield system
    system.stopped.set()
    thread.join()


@pytest.fixture
def add_site(
    pressroom: Callable[..., Ran], system: System, site_wordpress: WordPress, payer: Payer, monkeypatch: Any
) -> Callable[..., Ran]:
    """A function that adds the WordPress as `harbour`."""

    def add(user: str = "admin", url: str = site_wordpress.url, name: str = "harbour") -> Ran:
        monkeypatch.setenv("SITE_PASSWORD", site_wordpress.passwords[user])
        return pressroom("site", "add", url, "--user", user, "--name", name)

    return add


def spent(database: Database, account_id: UUID) -> int:
    """Return what an account of 1,000 credits has paid."""
    read = Statement("SELECT available FROM account WHERE id = %(id)s", {"id": account_id}, lambda rows: rows[0])
    return 1_000 - int(database.run(read)["available"])
