"""Endpoints that operators add: a pool takes them over while it runs, tries them, and leaves them."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from model_server import KEY, ModelServer, refused
from pydantic import SecretStr

from pipeline.accounts.secret_box import SecretBox
from pipeline.database import Database
from pipeline.operations.endpoints import remove, store, try_again
from pipeline.operations.pauses import pause, resume
from pipeline.settings import Settings
from pipeline.settings.endpoints import EndpointSettings
from workers.engines.endpoints.watch import EndpointWatch
from workers.engines.family import Family


class Pool:
    """The captioning family of a process, and its watch."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._watch = EndpointWatch(settings, database)
        self._watch.look()
        self.family = Family(settings, "captioning", look_every=timedelta(hours=1))
        self.family.setup()

    def look(self) -> dict[str, str | None]:
        """Look as the threads do; return the needs of each endpoint, None for one that is ready."""
        self._watch.look()
        self.family.look()
        return {offer.engine: offer.needs for offer in self.family.offers() if offer.engine in ("attic", "cellar")}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer({"/models": {"data": [{"id": "eyes"}]}}, key=KEY) as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path, captioning={"engines": None}, models={"download": "never"})


@pytest.fixture
def pool(settings: Settings, database: Database) -> Iterator[Pool]:
    yield Pool(settings, database)
    database.run(remove("attic"))


def add(database: Database, settings: Settings, server: ModelServer, key: str | None = KEY, **more: Any) -> None:
    sealed = SecretBox(settings).seal(key.encode()) if key else None
    own = EndpointSettings(**{"url": server.url, "captions": "eyes", "pause_seconds": 60, **more})
    assert database.run(store("attic", own, sealed))


def test_an_added_endpoint_serves_until_it_is_removed(
    pool: Pool, settings: Settings, database: Database, server: ModelServer
) -> None:
    assert pool.look() == {}
    add(database, settings, server)

    assert pool.look() == {"attic": None}
    assert pool.family.engines[0].name == "attic"
    assert server.asked[-1].headers["Authorization"] == f"Bearer {KEY}"

    database.run(pause("provider", "attic"))
    assert pool.look() == {"attic": "an operator has paused it"}
    assert "attic" not in [engine.name for engine in pool.family.engines]
    database.run(resume("provider", "attic"))
    assert pool.look() == {"attic": None}

    database.run(remove("attic"))
    assert pool.look() == {}
    assert "attic" not in [engine.name for engine in pool.family.engines]


def test_a_server_that_is_tried_again_says_in_words_what_is_wrong(
    pool: Pool, settings: Settings, database: Database, server: ModelServer
) -> None:
    add(database, settings, server, key="sk-wrong", captions="other")
    told = pool.look()["attic"]
    assert told == "the server refuses the key (HTTP 401)"

    database.run(remove("attic"))
    pool.look()
    add(database, settings, server, captions="other")
    assert pool.look() == {"attic": None}
    (offer,) = [one for one in pool.family.offers() if one.engine == "attic"]
    assert offer.content["warning"] == "the server does not list the model other; it lists eyes"

    server.answers["/models"] = refused(503, "loading")
    probes = len(server.asked)
    assert pool.look() == {"attic": None}  # it is not asked at each look
    assert len(server.asked) == probes
    database.run(try_again("attic"))
    assert pool.look() == {"attic": "the server is busy (HTTP 503)"}


def test_a_key_that_can_not_be_read_here_is_named_as_the_reason(
    pool: Pool, settings: Settings, database: Database, server: ModelServer, tmp_path: Path
) -> None:
    elsewhere = settings.model_copy(update={"secrets_key": SecretStr("A" * 43 + "="), "data": tmp_path / "elsewhere"})
    add(database, elsewhere, server)

    told = pool.look()["attic"]

    assert told is not None
    assert "credentials" in told
    assert not server.asked


def test_a_name_of_an_engine_takes_nothing_over(
    pool: Pool, settings: Settings, database: Database, server: ModelServer
) -> None:
    assert database.run(store("llama", EndpointSettings(url=server.url, captions="eyes"), None))
    try:
        assert pool.look() == {}
        assert pool.family.engines
    finally:
        database.run(remove("llama"))
