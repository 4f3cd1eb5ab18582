"""A whole system that several files ask, each as an account of its own."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from search_engine import SearchEngine, search_engine
from systems import FAST, Running, system


@pytest.fixture(scope="session")
def shared_engine() -> Iterator[SearchEngine]:
    """The search engine that the shared system asks."""
    with search_engine() as running:
        yield running


@pytest.fixture(scope="session")
def shared_system(shared_engine: SearchEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A system of our own kinds, with all pools, which may fetch from this machine."""
    ours = {name: value for name, value in FAST.items() if name != "PRESSROOM_KINDS"}
    extra = ours | shared_engine.environment() | {"PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8"}
    with system(tmp_path_factory.mktemp("shared") / "data", extra=extra) as running:
        yield running


@pytest.fixture(scope="module")
def engine(shared_engine: SearchEngine) -> SearchEngine:
    """The search engine, as at first."""
    shared_engine.forget()
    return shared_engine


@pytest.fixture(scope="module")
def service(shared_system: Running, engine: SearchEngine) -> Running:
    """The shared system, with an account for this file."""
    return replace(shared_system)
