"""Models that are built once a session."""

from pathlib import Path

import pytest
from tiny_models import build_chat_vlm, build_llava


@pytest.fixture(scope="session")
def vlm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chat model that sees, with random weights."""
    return build_chat_vlm(tmp_path_factory.mktemp("vlm"))


@pytest.fixture(scope="session")
def llava_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of another form."""
    return build_llava(tmp_path_factory.mktemp("llava"))
