"""An account with credits, and a worker for index checks."""

from collections.abc import Iterator

import pytest
import redis
from http_service import Service, start_service
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


@pytest.fixture(scope="module")
def open_service(
    tmp_path_factory: pytest.TempPathFactory, api_database_url: str, redis_server: str
) -> Iterator[Service]:
    """An API that allows addresses of this machine."""
    with start_service(
        tmp_path_factory.mktemp("service"),
        database_url=api_database_url,
        redis_url=redis_server,
        settings={"FETCH__ALLOW_NETWORKS": "127.0.0.0/8"},
    ) as running:
        yield running


@pytest.fixture
def monitors(service: Service, client: Payer, api_database: Database) -> Monitors:
    api_database.run(Statement("DELETE FROM index_monitor RETURNING id"))
    return Monitors(service, client, api_database)
