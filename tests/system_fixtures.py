"""Two whole systems that many files ask: one as an account of each file's own, and one in Chromium."""

from collections.abc import Iterator

import pytest
from search_engine import SearchEngine, search_engine
from systems import FAST, Running, system
from waiting import wait_for

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database
from workers.pools import POOLS


@pytest.fixture(scope="session")
def shared_engine() -> Iterator[SearchEngine]:
    """The search engine that the shared system asks."""
    with search_engine() as running:
        yield running


@pytest.fixture(scope="session")
def shared_system(shared_engine: SearchEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A system of our own kinds, with all pools, which may fetch from this machine; `replace` gives a file its own."""
    ours = {name: value for name, value in FAST.items() if name != "PRESSROOM_KINDS"}
    extra = (
        ours
        | shared_engine.environment()
        | {
            "PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8",
            "PRESSROOM_API__OFFERS_MAX_AGE_SECONDS": "0.5",
            # A lease that a busy machine lets run out would have its URL asked for again, which is counted.
            "PRESSROOM_WORK__LEASE_SECONDS": "6",
            "PRESSROOM_SEARCH__FRESH_DAYS": "0",
        }
    )
    with system(tmp_path_factory.mktemp("shared") / "data", extra=extra) as running:
        wait_for(lambda: running.written().count("pool process ready") >= len(POOLS), about=running.written)
        yield running
        with Database(running.database_url) as database:
            assert database.run(discrepancies()) == []


@pytest.fixture(scope="session")
def dashboard_engine() -> Iterator[SearchEngine]:
    """The search engine that the dashboard's system asks."""
    with search_engine() as running:
        running.pages.update({"https://example.org/", "https://example.org/garden"})
        yield running


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory: pytest.TempPathFactory, dashboard_engine: SearchEngine) -> Iterator[Running]:
    """A system for the tests in a browser, with the voices that nobody has set anything for, and made-up work."""
    extra = FAST | dashboard_engine.environment() | {"PRESSROOM_SYNTHESIS__ENGINES": ""}
    extra |= {"PRESSROOM_API__OFFERS_MAX_AGE_SECONDS": "0.5"}
    with system(tmp_path_factory.mktemp("browser") / "data", extra=extra) as running:
        running.key = (running.data / "first-key").read_text().strip()
        wait_for(lambda: b"Heart" in running.ask("/tts/voices").body)  # pages ask for the voices once
        yield running
        with Database(running.database_url) as database:
            assert database.run(discrepancies()) == []
