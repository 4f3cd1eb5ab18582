"""A tiny Whisper, made once."""

from pathlib import Path

import pytest
import tiny_whisper


@pytest.fixture(scope="session")
def whisper_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that is not quite sure that everybody speaks German."""
    return tiny_whisper.build(tmp_path_factory.mktemp("whisper"))
