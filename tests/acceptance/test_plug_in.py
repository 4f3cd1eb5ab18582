"""A package of somebody else, installed beside the service: what it adds is asked for over HTTP."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from systems import Running, only, system
from waiting import wait_for

pytestmark = pytest.mark.system

PLUG_IN = Path(__file__).parents[1] / "plug_in"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A system with the package on its path."""
    path = os.pathsep.join((os.environ.get("PYTHONPATH", ""), str(PLUG_IN)))
    extra = {"PYTHONPATH": path, "PRESSROOM_SYNTHESIS__ENGINES": "hum,espeak"}
    with system(tmp_path_factory.mktemp("plug_in") / "data", *only("synthesis"), extra=extra) as running:
        yield running


def test_an_engine_of_another_package_speaks_first_and_its_voice_is_listed(service: Running) -> None:
    spoken = service.ask("/tts", {"text": "Hello."})

    assert (spoken.status, spoken.headers["X-Engine"]) == (200, "hum"), spoken.body
    assert spoken.body[:4] == b"RIFF"
    # The API reads the pools' offers again after a while.
    wait_for(lambda: service.ask("/tts/voices").json["voices"][0]["name"] == "hum")
    assert service.ask("/tts", {"text": "Hello.", "voice_name": "de"}).headers["X-Engine"] == "espeak"


def test_a_kind_of_another_package_is_asked_for_like_any_other(service: Running) -> None:
    counted = service.ask("/words/tally", {"text": "Two words."})

    assert (counted.status, counted.json) == (200, {"words": 2}), counted.body
    assert counted.headers["X-Credits-Used"] == "2"
    assert "X-Engine" not in counted.headers
    assert "/words/tally" in service.ask("/openapi.json").json["paths"]
    assert service.ask("/words/tally", {"text": 5}).json["code"] == "invalid_request"
