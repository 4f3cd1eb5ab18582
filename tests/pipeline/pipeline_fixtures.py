"""A workbench for tests of the life cycle; whatever a test does, the ledger must agree in the end."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from payers import open_account
from psycopg.rows import dict_row
from workbench import Workbench, empty

from pipeline.database import Database


@pytest.fixture(scope="session")
def bench_url(make_database: Callable[..., str]) -> str:
    """The database of all workbenches."""
    return make_database()


@pytest.fixture(scope="session")
def bench_database(bench_url: str) -> Iterator[Database]:
    """The same, open."""
    with Database(bench_url) as opened:
        yield opened


@pytest.fixture
def bench(bench_url: str, bench_database: Database) -> Iterator[Workbench]:
    """An account with 1,000 credits, alone in its database, and short calls."""
    with psycopg.connect(bench_url, autocommit=True, row_factory=dict_row) as connection:
        empty(connection)
        bench = Workbench(bench_database, open_account(bench_database), connection)
        yield bench
        bench.check()
