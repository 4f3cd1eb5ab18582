"""A search engine on loopback, and a pool that asks it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from index_pools import HERE, Pool, Start
from payers import Payer
from search_engine import SearchEngine, search_engine

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database


@pytest.fixture(scope="session")
def shared_engine() -> Iterator[SearchEngine]:
    with search_engine() as engine:
        yield engine


@pytest.fixture
def engine(shared_engine: SearchEngine) -> SearchEngine:
    shared_engine.forget()
    shared_engine.pages.add(HERE)
    return shared_engine


@pytest.fixture(scope="session")
def index_database_url(make_database: Callable[..., str]) -> str:
    """One database for all tests here; each begins with empty tables."""
    return make_database()


@pytest.fixture
def database(index_database_url: str) -> Iterator[Database]:
    with psycopg.connect(index_database_url, autocommit=True) as connection:
        for table in ("verdict", "search_provider", "item", "job", "credit_entry", "api_key", "account"):
            connection.execute(f"DELETE FROM {table}")
    with Database(index_database_url) as opened:
        yield opened


@pytest.fixture
def start(
    database: Database,
    index_database_url: str,
    redis_url: str,
    tmp_path: Path,
    payer: Payer,
    engine: SearchEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Start]:
    pools: list[Pool] = []

    def start_pool(providers: str = "duckduckgo,bing", *, interval: float = 0, **search: Any) -> Pool:
        for name, value in engine.environment(interval=interval, providers=providers).items():
            monkeypatch.setenv(name, value)
        # One slot: a process whose only one is taken hears at once that it is free again.
        search = {"slots": 1, **search}
        pools.append(Pool(database, redis_url, tmp_path, payer, index_database_url, search=search))
        return pools[-1]

    yield start_pool
    engine.is_held = False
    assert database.run(discrepancies()) == []
    for pool in pools:
        pool.close()
