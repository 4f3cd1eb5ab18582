"""The drawn engine and its fonts, set up once."""

import pytest

from capabilities.blog.engines.pictures.drawn.drawn import Drawn
from capabilities.blog.engines.pictures.drawn.fonts import Fonts


@pytest.fixture(scope="session")
def fonts() -> Fonts:
    fonts = Fonts()
    fonts.setup()
    return fonts


@pytest.fixture(scope="session")
def engine(fonts: Fonts) -> Drawn:
    engine = Drawn(fonts)
    assert engine.readiness() is None
    return engine
