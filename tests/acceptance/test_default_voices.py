"""What a user hears of a system that nobody has set anything for."""

from collections.abc import Iterator

import pytest
from systems import Running, only, system

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A system whose engines are the default ones."""
    extra = {"PRESSROOM_SYNTHESIS__ENGINES": ""}
    with system(tmp_path_factory.mktemp("voices") / "data", *only("synthesis"), extra=extra) as running:
        yield running


@pytest.mark.parametrize(
    ("fields", "engine"),
    [
        ({}, "hibari"),
        ({"language": "en"}, "hibari"),
        ({"language": "en-US"}, "hibari"),
        ({"language": "en-GB"}, "espeak"),
        ({"language": "de"}, "espeak"),
        ({"voice_name": "en-US"}, "espeak"),
        ({"voice_name": "en-us-heart"}, "hibari"),
    ],
)
def test_english_is_natural_and_other_languages_are_spoken(
    service: Running, fields: dict[str, str], engine: str
) -> None:
    spoken = service.ask("/tts", {"text": "Good morning!", **fields})

    assert (spoken.status, spoken.headers["X-Engine"]) == (200, engine), spoken.body
    assert spoken.body[:4] == b"RIFF"


@pytest.mark.parametrize("path", ["/tts/batch", "/tts/stream"])
def test_chapters_and_streams_are_natural_as_well(service: Running, path: str) -> None:
    spoken = service.ask(path, {"text": "It was a dark and stormy night. The rain fell in torrents."})

    assert (spoken.status, spoken.headers["X-Engine"]) == (200, "hibari"), spoken.body
    assert len(spoken.body) > 20_000
