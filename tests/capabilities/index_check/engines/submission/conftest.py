"""IndexNow and the sites that it is told of, on loopback."""

from collections.abc import Iterator

import pytest
from told_engines import KEY, ToldEngines, told_engines

from capabilities.index_check.engines.submission import SubmittedSite


@pytest.fixture
def engines() -> Iterator[ToldEngines]:
    with told_engines() as running:
        running.files[running.here, f"/{KEY}.txt"] = KEY
        yield running


@pytest.fixture
def site(engines: ToldEngines) -> SubmittedSite:
    return SubmittedSite(engines.here, is_secure=False)
