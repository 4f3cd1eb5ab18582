"""Downloads in the background: each model for itself, and what is told of them."""

import threading
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import redis
from alba import make_alba
from hub import FakeHub
from waiting import wait_for

from pipeline.operations.model_requests import MODEL_ACTIONS, ModelRequest, request_key
from pipeline.settings import Settings
from workers.models.background import BackgroundFetch
from workers.models.catalogue import CatalogueModel, Hub
from workers.models.store import ModelStore

ALBA = make_alba()
GONE = replace(ALBA, name="piper-gone", hub=Hub("nobody/voices"))
THREAD = "fetch synthesis"


def start(
    tmp_path: Path,
    *models: CatalogueModel,
    engines: str = "piper",
    download: str = "auto",
    redis_url: str | None = None,
) -> ModelStore:
    """Start the downloads of some models, which are soon tried again."""
    settings = Settings(
        data=tmp_path,
        redis_url=redis_url,
        models={"download": download, "retry_minutes": 0.002},
        synthesis={"engines": engines},
    )
    store = ModelStore(settings, {model.name: model for model in models})
    fetch = BackgroundFetch(settings, "synthesis", store, begin_after=timedelta(0))
    fetch.serve_requests()
    fetch.start()
    return store


def wait_for_the_end() -> None:
    """Wait until all has come."""
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join(20)
            assert not thread.is_alive()


def test_model_that_can_not_be_had_keeps_no_other_from_coming_and_is_told_once(
    hub: FakeHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = start(tmp_path, GONE, ALBA)
    wait_for(lambda: store.is_here(ALBA))
    assert not store.is_here(GONE)

    time.sleep(0.5)
    hub.files["nobody/voices"] = hub.files["rhasspy/voices"]
    wait_for_the_end()

    told = capsys.readouterr().out
    assert told.count("model not fetched") == 1
    assert told.count("model fetched") == 2
    assert store.folder(GONE) is not None


@pytest.mark.parametrize(("engines", "download"), [("espeak", "auto"), ("piper", "never")])
def test_nothing_comes_for_an_engine_that_is_not_used_or_where_nothing_may(
    hub: FakeHub, tmp_path: Path, engines: str, download: str
) -> None:
    start(tmp_path, ALBA, engines=engines, download=download)

    assert THREAD not in [thread.name for thread in threading.enumerate()]


def test_where_it_is_only_said_how_a_model_comes_when_an_operator_asks_for_it_and_goes(
    hub: FakeHub, tmp_path: Path, redis_server: str
) -> None:
    store = start(tmp_path, ALBA, download="ask", redis_url=redis_server)
    time.sleep(0.3)
    assert not store.is_here(ALBA)

    with redis.Redis.from_url(redis_server) as client:
        for action in MODEL_ACTIONS:
            client.rpush(request_key("synthesis"), ModelRequest(action, ALBA.name).written())
            until = time.monotonic() + 60
            while store.is_here(ALBA) != (action == "fetch"):
                assert time.monotonic() < until
                time.sleep(0.05)
        assert client.llen(request_key("synthesis")) == 0
