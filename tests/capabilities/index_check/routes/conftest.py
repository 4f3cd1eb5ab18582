"""An account with credits, and a worker for index checks."""

from collections.abc import Iterator

import pytest
import redis
from http_service import Service
from index_finder import IndexJobs
from index_monitors import Monitors
from manual_worker import ManualWorker, cancel_open_jobs
from payers import Payer, open_account

from pipeline.database import Database, Statement


@pytest.fixture
def client(api_database: Database) -> Payer:
    return open_account(api_database, credits=30_000)


@pytest.fixture
def finder(api_database: Database, redis_server: str) -> Iterator[ManualWorker]:
    """A worker for index checks; what earlier tests left undone is cancelled first."""
    cancel_open_jobs(api_database)
    with redis.Redis.from_url(redis_server) as connection:
        yield ManualWorker(api_database, connection)


@pytest.fixture
def jobs(service: Service, client: Payer, finder: ManualWorker) -> IndexJobs:
    return IndexJobs(service, client, finder)


@pytest.fixture
def monitors(service: Service, client: Payer, api_database: Database) -> Monitors:
    api_database.run(Statement("DELETE FROM index_monitor RETURNING id"))
    return Monitors(service, client, api_database)
