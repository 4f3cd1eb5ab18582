"""An API with made-up kinds, accounts, and a worker."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
import redis
from api_kinds import KINDS
from http_service import Service, Start, start_service
from manual_worker import ManualWorker, cancel_open_jobs
from payers import Payer, open_account
from servers import start_redis
from waiting import wait_for

from pipeline.database import Database
from pipeline.wakes import notices


@pytest.fixture(scope="session")
def api_database_url(make_database: Callable[[], str]) -> str:
    return make_database()


@pytest.fixture(scope="session")
def api_database(api_database_url: str) -> Iterator[Database]:
    with Database(api_database_url) as opened:
        yield opened


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory, api_database_url: str, redis_server: str) -> Iterator[Service]:
    """The API that tests share; each test has an account of its own."""
    with start_service(
        tmp_path_factory.mktemp("service"), database_url=api_database_url, redis_url=redis_server
    ) as running:
        yield running


@pytest.fixture(scope="session")
def open_service(
    tmp_path_factory: pytest.TempPathFactory, api_database_url: str, redis_server: str
) -> Iterator[Service]:
    """The same for tests whose webhooks and pages are on this machine."""
    with start_service(
        tmp_path_factory.mktemp("service"),
        database_url=api_database_url,
        redis_url=redis_server,
        settings={"FETCH__ALLOW_NETWORKS": "127.0.0.0/8"},
    ) as running:
        yield running


@pytest.fixture(scope="session")
def service_without_redis(tmp_path_factory: pytest.TempPathFactory, api_database_url: str) -> Iterator[Service]:
    """An API that has never found a Redis."""
    folder = tmp_path_factory.mktemp("service")
    nowhere = f"unix://{folder}/nothing.sock"
    with start_service(folder, database_url=api_database_url, redis_url=nowhere) as running:
        yield running


@pytest.fixture
def start(tmp_path_factory: pytest.TempPathFactory, api_database_url: str, redis_server: str) -> Start:
    """A function that starts an API of a test's own; its arguments are settings."""

    def start_one(
        *, processes: int = 1, redis_url: str = redis_server, **settings: str
    ) -> AbstractContextManager[Service]:
        return start_service(
            tmp_path_factory.mktemp("service"),
            database_url=api_database_url,
            redis_url=redis_url,
            processes=processes,
            settings=settings,
        )

    return start_one


@pytest.fixture
def client(api_database: Database) -> Payer:
    """An account with 1,000 credits and generous limits."""
    return open_account(api_database)


@pytest.fixture
def manual_worker(api_database: Database, redis_server: str) -> Iterator[ManualWorker]:
    """A worker that works when its test says so; what earlier tests left undone is cancelled first."""
    cancel_open_jobs(api_database)
    with redis.Redis.from_url(redis_server) as connection:
        worker = ManualWorker(api_database, connection)
        yield worker
        worker.stopped.set()


@pytest.fixture
def told(start: Start, api_database: Database, tmp_path: Path) -> Iterator[tuple[Service, ManualWorker]]:
    """An API that hears of the ends of jobs by notices alone, and a manual worker that sends them."""
    with (
        start_redis(tmp_path / "redis") as url,
        start(redis_url=url, KINDS=f"{KINDS},unpolled_kind:Unpolled") as service,
        redis.Redis.from_url(url) as connection,
    ):
        wait_for(
            lambda: dict(connection.pubsub_numsub(notices.CHANNEL))[notices.CHANNEL.encode()],
            about=lambda: "the API does not listen",
        )
        cancel_open_jobs(api_database)
        worker = ManualWorker(api_database, connection)
        yield service, worker
        worker.stopped.set()


@pytest.fixture
def worker(manual_worker: ManualWorker) -> Iterator[ManualWorker]:
    """A worker that goes on delivering while the test runs."""

    def work() -> None:
        while not manual_worker.stopped.is_set():
            if not manual_worker.work():
                manual_worker.stopped.wait(0.01)

    thread = threading.Thread(target=work)
    thread.start()
    yield manual_worker
    manual_worker.stopped.set()
    thread.join()
