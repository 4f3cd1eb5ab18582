"""What a user hears of a system that nobody has set anything for."""

from dataclasses import replace

import pytest
from systems import Running

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def service(dashboard: Running) -> Running:
    """A system whose engines are the default ones."""
    return replace(dashboard)


@pytest.mark.parametrize(
    ("fields", "engine", "voice"),
    [
        ({}, "hibari", "en-US-Heart"), ({"language": "en"}, "hibari", "en-US-Heart"),
        ({"language": "en-US"}, "hibari", "en-US-Heart"), ({"language": "en-GB"}, "hibari", "en-US-Heart"),
        ({"language": "de"}, "espeak", "de"), ({"voice_name": "en-US"}, "espeak", "en-US"),
        ({"voice_name": "en-us-heart"}, "hibari", "en-US-Heart"),
    ],
)  # fmt: skip
def test_english_is_natural_and_other_languages_are_spoken(
    service: Running, fields: dict[str, str], engine: str, voice: str
) -> None:
    spoken = service.ask("/tts", {"text": "Good morning!", **fields})

    assert (spoken.status, spoken.headers["X-Engine"], spoken.headers["X-Voice"]) == (200, engine, voice), spoken.body
    assert spoken.body[:4] == b"RIFF"
    brings = {"de": "models fetch piper-de_DE-", "en-GB": "models fetch kokoro-82m"}.get(fields.get("language", ""))
    assert brings in spoken.headers["X-Warning"] if brings else "X-Warning" not in spoken.headers


@pytest.mark.parametrize("path", ["/tts/batch", "/tts/stream"])
def test_chapters_and_streams_warn_of_a_robot_too(service: Running, path: str) -> None:
    assert (
        "models fetch kokoro-82m" in service.ask(path, {"text": "Buenos días.", "language": "es"}).headers["X-Warning"]
    )
