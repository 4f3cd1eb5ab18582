"""URLs through a process of the search_check pool, against a search engine on loopback."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from payers import Payer
from search_engine import SearchEngine, search_engine

from pipeline import lifecycle
from pipeline.artifacts import Artifacts, open_store
from pipeline.broker import WakeBroker, connect
from pipeline.database import Database
from pipeline.index_jobs import raw_result_of, reason_of
from pipeline.jobs import Item, Job, find_items, find_job
from pipeline.kinds.index_check import IndexCheck, IndexCheckRequest, kind_name
from pipeline.ledger import discrepancies
from pipeline.metrics import Metrics
from pipeline.settings import Settings
from workers.handlers.index_check import IndexCheckHandler
from workers.run import Runner

HERE, GONE = "https://e.example/here", "https://e.example/gone"


@pytest.fixture(scope="module")
def shared_engine() -> Iterator[SearchEngine]:
    with search_engine() as engine:
        yield engine


@pytest.fixture
def engine(shared_engine: SearchEngine) -> SearchEngine:
    shared_engine.pages = {HERE}
    shared_engine.asked.clear()
    shared_engine.faults.clear()
    shared_engine.always, shared_engine.retry_after, shared_engine.delay = None, "", 0.0
    return shared_engine


class Pool:
    """Processes of the pool, in threads of this one, and a way to give them URLs."""

    def __init__(self, database: Database, redis_url: str, folder: Path, payer: Payer, **search: Any) -> None:
        self.settings = Settings(data=folder, search=search, work={"heartbeat_seconds": 0.1, "drain_seconds": 1})
        self.database, self.payer = database, payer
        self.redis = connect(redis_url)
        self.handlers: list[IndexCheckHandler] = []
        self.runner = self.start()

    def start(self) -> Runner:
        """Return one more process, as after a restart."""
        handler = IndexCheckHandler(self.settings)
        self.handlers.append(handler)
        kinds = {kind.name: kind for kind in map(IndexCheck, (None, "duckduckgo", "bing"))}
        runner = Runner(
            "search_check",
            kinds,
            dict.fromkeys(kinds, handler),
            database=self.database,
            broker=WakeBroker(self.redis),
            artifacts=Artifacts(open_store(self.settings)),
            settings=self.settings,
            metrics=Metrics(),
        )
        runner.setup()
        return runner

    def submit(self, *urls: str, engine: str | None = None) -> UUID:
        kind = IndexCheck(engine)
        request = IndexCheckRequest(type="check", urls=list(urls), engine=engine)
        submission = lifecycle.Submission(
            account_id=self.payer.account_id,
            api_key_id=self.payer.api_key_id,
            kind=kind_name(engine),
            route="/indexing/jobs",
            request={},
            request_id="test",
            request_hash=b"hash",
            items=[(part.input, part.price) for part in kind.parts(request)],
            deadline=timedelta(days=7),
            keep_for=timedelta(days=30),
            slice_size=10,
        )
        assert self.database.run(lifecycle.submit(submission)).outcome == "accepted"
        return submission.job_id

    def job(self, job_id: UUID) -> Job:
        found = self.database.run(find_job(job_id))
        assert found is not None
        return found

    def items(self, job_id: UUID) -> list[Item]:
        return self.database.run(find_items(job_id))

    def drain(self, until: Callable[[], bool], *, seconds: float = 15) -> None:
        """Work, with the sweep's help, until something holds."""
        end = time.monotonic() + seconds
        while not until():
            assert time.monotonic() < end
            self.database.run(lifecycle.wake_waiting())
            self.runner.drain()
            time.sleep(0.02)

    def check(self, *urls: str, engine: str | None = None) -> list[Item]:
        """Have URLs checked, and return their items once all have ended."""
        job_id = self.submit(*urls, engine=engine)
        self.drain(lambda: self.job(job_id).is_final)
        return self.items(job_id)


Start = Callable[..., Pool]


@pytest.fixture
def start(
    database: Database,
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
        pools.append(Pool(database, redis_url, tmp_path, payer, **search))
        return pools[-1]

    yield start_pool
    assert database.run(discrepancies()) == []
    for pool in pools:
        pool.redis.close()
        for handler in pool.handlers:
            handler.close()


def reasons(items: list[Item]) -> list[str | None]:
    return [reason_of(item) for item in items]


def test_a_listed_page_is_indexed_and_another_is_not(start: Start, engine: SearchEngine) -> None:
    listed, other = start().check(HERE, GONE)

    assert (listed.state, listed.captured, other.state, other.captured) == ("done", 1, "done", 1)
    found = raw_result_of(listed)
    assert found is not None
    assert (found["reason"], found["provider"], found["matched_url"]) == ("indexed", "duckduckgo", HERE)
    assert found["proofUrl"] == "https://duckduckgo.com/?q=site%3Ae.example%2Fhere"
    assert reason_of(other) == "not_indexed"
    assert engine.queries("bing") == []
