"""The extractive engine, set up once."""

import pytest

from capabilities.blog.engines.metadata.extractive.extractive import Extractive


@pytest.fixture(scope="session")
def engine() -> Extractive:
    engine = Extractive()
    engine.setup()
    return engine
