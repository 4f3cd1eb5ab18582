"""An account with credits, and a worker for index checks."""

from collections.abc import Iterator

import pytest
import redis
from index_finder import finish
from manual_worker import ManualWorker
from payers import Payer, open_account

from pipeline.database import Database
from pipeline.kinds.index_check.check import IndexCheck


@pytest.fixture
def client(api_database: Database) -> Payer:
    return open_account(api_database, credits=30_000)


@pytest.fixture
def finder(api_database: Database, redis_server: str) -> Iterator[ManualWorker]:
    """A worker for index checks; what earlier tests left undone is done first."""
    with redis.Redis.from_url(redis_server) as connection:
        worker = ManualWorker(api_database, connection)
        for kind in IndexCheck.lanes:
            finish(worker, kind)
        yield worker
