"""Settings as they are read from the environment."""

import pytest

from pipeline.settings import Settings


def test_an_empty_variable_is_one_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PRESSROOM_TRANSCRIPTION__WHISPER__MODEL", "PRESSROOM_SEARCH__SLOTS", "REDIS_URL"):
        monkeypatch.setenv(name, "")

    settings = Settings()

    assert settings.transcription.whisper.model is None
    assert (settings.search.slots, settings.redis_url) == (8, None)
