"""The engine of most tests of speech."""

import pytest

from capabilities.speech.engines.espeak.espeak import Espeak


@pytest.fixture(scope="session")
def espeak() -> Espeak:
    """espeak, set up."""
    engine = Espeak()
    engine.setup()
    return engine
